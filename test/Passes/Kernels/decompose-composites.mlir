// RUN: ds-opt %s --ds-decompose-composites --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-decompose-composites -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @silu_is_x_over_one_plus_exp
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @silu_is_x_over_one_plus_exp(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  // CHECK: %[[N:.*]] = arith.negf %[[X]]
  // CHECK: %[[E:.*]] = math.exp %[[N]]
  // CHECK: %[[D:.*]] = arith.addf %[[E]]
  // CHECK: %[[Y:.*]] = arith.divf %[[X]], %[[D]]
  // CHECK: return %[[Y]]
  %y = ds.silu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @softmax_subtracts_the_maximum
func.func @softmax_subtracts_the_maximum(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "x"}) -> (tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  // CHECK:     ds.reduce {{.*}}kind = #ds.reduction<max>{{.*}} -> tensor<8xf32, #ds.layout<[{dp}]>>
  // CHECK:     math.exp
  // CHECK:     ds.reduce {{.*}}kind = #ds.reduction<sum>
  // CHECK-NOT: ds.softmax
  // CHECK:     return {{.*}} : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %y = ds.softmax %x {dim = 1 : i64} : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %y : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}

// CHECK-LABEL: func.func @layer_norm_reads_its_row_twice
func.func @layer_norm_reads_its_row_twice(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "x"}, %g: tensor<4xf32> {ds.name = "g"}, %b: tensor<4xf32> {ds.name = "b"})
    -> (tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  // CHECK-COUNT-2: ds.reduce
  // CHECK:         math.{{rsqrt|sqrt}}
  // CHECK-NOT:     ds.layer_norm
  // CHECK:         return
  %y = ds.layer_norm %x, %g, %b {epsilon = 1.0e-05 : f64} : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %y : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}

// CHECK-LABEL: func.func @attention_is_two_matmuls
func.func @attention_is_two_matmuls(%q: tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>> {ds.name = "q"}) -> (tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>> {ds.name = "y"}) {
  // CHECK:     ds.matmul
  // CHECK:     math.exp
  // CHECK:     ds.matmul
  // CHECK-NOT: ds.attention
  // CHECK:     return
  %y = ds.attention %q, %q, %q {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>>, tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>>,
      tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>>) -> tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>>
  return %y : tensor<2x4x6x8xf32, #ds.layout<[{dp}, {}, {}, {}]>>
}

// CHECK-LABEL: func.func @leaves_matmuls_and_elementwise_ops_alone
func.func @leaves_matmuls_and_elementwise_ops_alone(%x: tensor<8x4xf32> {ds.name = "x"}, %w: tensor<4x6xf32> {ds.name = "w"}) -> (tensor<8x6xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[M:.*]] = ds.matmul %{{.*}}, %{{.*}} {indices = "ik,kj->ij"}
  // CHECK-NEXT: %[[Y:.*]] = math.tanh %[[M]]
  // CHECK-NEXT: return %[[Y]]
  %m = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = math.tanh %m : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @a_joined_dim_is_folded_where_it_was_two
// CHECK-SAME:  (%[[X:.*]]: {{.*}})
func.func @a_joined_dim_is_folded_where_it_was_two(%x: tensor<2x3x4xf32> {ds.name = "x"}) -> (tensor<4xf32> {ds.name = "y"}) {
  // CHECK: ds.reduce %[[X]] {dims = array<i64: 0, 1>
  %r = ds.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %y = ds.reduce %r {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<6x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @leaves_a_joined_dim_that_stays_alone
func.func @leaves_a_joined_dim_that_stays_alone(%x: tensor<4x2x3xf32> {ds.name = "x"}) -> (tensor<6xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[R:.*]] = ds.reshape
  // CHECK-NEXT: ds.reduce %[[R]] {dims = array<i64: 0>
  %r = ds.reshape %x : (tensor<4x2x3xf32>) -> tensor<4x6xf32>
  %y = ds.reduce %r {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<4x6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// Kernels fold leading or trailing dims.
// CHECK-LABEL: func.func @dims_apart_come_to_the_end
func.func @dims_apart_come_to_the_end(%x: tensor<2x3x4x5xf32> {ds.name = "x"}) -> (tensor<3x5xf32> {ds.name = "y"}, tensor<2x4xf32> {ds.name = "z"}) {
  // CHECK-NEXT: %[[T:.*]] = ds.transpose %{{.*}} {permutation = array<i64: 1, 3, 0, 2>}
  // CHECK-NEXT: %[[Y:.*]] = ds.reduce %[[T]] {dims = array<i64: 2, 3>
  // CHECK-NEXT: %[[U:.*]] = ds.transpose %{{.*}} {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK-NEXT: %[[Z:.*]] = ds.reduce %[[U]] {dims = array<i64: 2, 3>
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  %y = ds.reduce %x {dims = array<i64: 0, 2>, kind = #ds.reduction<sum>} : (tensor<2x3x4x5xf32>) -> tensor<3x5xf32>
  %z = ds.reduce %x {dims = array<i64: 1, 3>, kind = #ds.reduction<sum>} : (tensor<2x3x4x5xf32>) -> tensor<2x4xf32>
  return %y, %z : tensor<3x5xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @dims_at_both_ends_stay
func.func @dims_at_both_ends_stay(%x: tensor<2x3x4x5xf32> {ds.name = "x"}) -> (tensor<3x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[R:.*]] = ds.reduce %{{.*}} {dims = array<i64: 3>
  // CHECK-NEXT: ds.reduce %[[R]] {dims = array<i64: 0>
  %y = ds.reduce %x {dims = array<i64: 0, 3>, kind = #ds.reduction<sum>} : (tensor<2x3x4x5xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_softmax_along_a_dim_between_others_runs_along_the_last
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @a_softmax_along_a_dim_between_others_runs_along_the_last(%x: tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>> {ds.name = "x"})
    -> (tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>> {ds.name = "y"}, tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>> {ds.name = "z"}) {
  // CHECK:         ds.transpose %[[X]] {permutation = array<i64: 0, 2, 1>}
  // CHECK-COUNT-2: ds.reduce {{.*}}dims = array<i64: 2>{{.*}} -> tensor<2x4xf32
  // CHECK:         ds.transpose {{.*}} {permutation = array<i64: 0, 2, 1>}
  // CHECK:         ds.transpose %[[X]] {permutation = array<i64: 0, 2, 1>}
  // CHECK-COUNT-2: ds.reduce {{.*}}dims = array<i64: 2>{{.*}} -> tensor<2x4xf32
  // CHECK:         ds.transpose {{.*}} {permutation = array<i64: 0, 2, 1>}
  // CHECK-NOT:     ds.reduce
  %y = ds.softmax %x {dim = 1 : i64} : (tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>>) -> tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>>
  %z = ds.log_softmax %x {dim = 1 : i64} : (tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>>) -> tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>>
  return %y, %z : tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>>, tensor<2x3x4xf32, #ds.layout<[{dp}, {}, {}]>>
}

// CHECK-LABEL: func.func @a_joined_dim_between_others_is_folded_at_the_end
// CHECK-SAME:  (%[[X:.*]]: {{.*}})
func.func @a_joined_dim_between_others_is_folded_at_the_end(%x: tensor<2x3x4x5xf32> {ds.name = "x"}) -> (tensor<2x5xf32> {ds.name = "y"}) {
  // CHECK: %[[T:.*]] = ds.transpose %[[X]] {permutation = array<i64: 0, 3, 1, 2>}
  // CHECK: ds.reduce %[[T]] {dims = array<i64: 2, 3>
  %r = ds.reshape %x : (tensor<2x3x4x5xf32>) -> tensor<2x12x5xf32>
  %y = ds.reduce %r {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<2x12x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @a_dim_of_one_element_that_stays_is_no_join
func.func @a_dim_of_one_element_that_stays_is_no_join(%x: tensor<6x5xf32> {ds.name = "x"}) -> (tensor<6x1xf32> {ds.name = "y"}) {
  // CHECK: ds.reduce {{.*}} : (tensor<6x1x5xf32>) -> tensor<6x1xf32>
  %r = ds.reshape %x : (tensor<6x5xf32>) -> tensor<6x5x1xf32>
  %y = ds.reduce %r {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<6x5x1xf32>) -> tensor<6x1xf32>
  return %y : tensor<6x1xf32>
}
