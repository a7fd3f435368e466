// RUN: ds-opt %s --ds-recompute-elementwise --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-recompute-elementwise -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @a_cheap_value_is_computed_again_after_a_matmul
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
func.func @a_cheap_value_is_computed_again_after_a_matmul(%x: tensor<4x4xf32> {ds.name = "x"}, %w: tensor<4x4xf32> {ds.name = "w"}) -> (tensor<4x4xf32> {ds.name = "y"}) {
  // CHECK:      %[[M:.*]] = ds.matmul
  // CHECK-NEXT: %[[T:.*]] = math.tanh %[[X]]
  // CHECK-NEXT: %[[G:.*]] = arith.mulf %[[M]], %[[T]]
  // CHECK-NEXT: return %[[G]]
  %t = math.tanh %x : tensor<4x4xf32>
  %h = arith.mulf %t, %x : tensor<4x4xf32>
  %m = ds.matmul %h, %w {indices = "ik,kj->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.mulf %m, %t : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// Two normalized inputs: the first is kept as the input, which is no larger.
// CHECK-LABEL: func.func @an_input_is_kept_in_place_of_what_is_made_of_it
// CHECK-SAME:  (%[[A:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
func.func @an_input_is_kept_in_place_of_what_is_made_of_it(%a: tensor<8x16xf32> {ds.name = "a"}, %w: tensor<16x16xf32> {ds.name = "w"}) -> (tensor<8x16xf32> {ds.name = "y"}) {
  // CHECK:      %[[H:.*]] = ds.matmul %[[A]]
  // CHECK:      %[[S:.*]] = ds.reduce %[[H]]
  // CHECK:      %[[M:.*]] = ds.matmul
  // CHECK-NEXT: %[[B:.*]] = ds.broadcast %[[S]]
  // CHECK-NEXT: %[[D:.*]] = arith.subf %[[H]], %[[B]]
  // CHECK-NEXT: arith.mulf %[[M]], %[[D]]
  %h = ds.matmul %a, %w {indices = "ik,kj->ij"} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %s = ds.reduce %h {dims = array<i64: 1>, kind = #ds.reduction<max>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %b = ds.broadcast %s {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x16xf32>
  %d = arith.subf %h, %b : tensor<8x16xf32>
  %e = math.exp %d : tensor<8x16xf32>
  %m = ds.matmul %e, %w {indices = "ik,kj->ij"} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %y = arith.mulf %m, %d : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @leaves_a_sum_of_two_that_die_alone
func.func @leaves_a_sum_of_two_that_die_alone(%a: tensor<4x4xf32> {ds.name = "a"}, %b: tensor<4x4xf32> {ds.name = "b"}) -> (tensor<4x4xf32> {ds.name = "y"}) {
  // CHECK:     %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} :
  // CHECK:     %[[M:.*]] = ds.matmul
  // CHECK-NOT: arith.addf %{{.*}}arg
  // CHECK:     arith.addf %[[M]], %[[S]]
  %s = arith.addf %a, %b : tensor<4x4xf32>
  %e = math.exp %s : tensor<4x4xf32>
  %m = ds.matmul %e, %e {indices = "ik,kj->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.addf %m, %s : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @leaves_a_value_that_a_matmul_reads_alone
func.func @leaves_a_value_that_a_matmul_reads_alone(%x: tensor<4x4xf32> {ds.name = "x"}) -> (tensor<4x4xf32> {ds.name = "y"}) {
  // CHECK:     %[[E:.*]] = math.exp
  // CHECK:     %[[M:.*]] = ds.matmul %[[E]], %[[E]]
  // CHECK-NOT: math.exp
  // CHECK:     arith.mulf %[[M]], %[[E]]
  %e = math.exp %x : tensor<4x4xf32>
  %m = ds.matmul %e, %e {indices = "ik,kj->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.mulf %m, %e : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @leaves_costly_chains_alone
func.func @leaves_costly_chains_alone(%x: tensor<4x4xf32> {ds.name = "x"}) -> (tensor<4x4xf32> {ds.name = "y"}) {
  // CHECK-COUNT-3: math.exp
  // CHECK:         %[[M:.*]] = ds.matmul
  // CHECK-NOT:     math.exp
  // CHECK:         arith.mulf %[[M]]
  %a = math.exp %x : tensor<4x4xf32>
  %b = math.exp %a : tensor<4x4xf32>
  %c = math.exp %b : tensor<4x4xf32>
  %h = arith.mulf %c, %x : tensor<4x4xf32>
  %m = ds.matmul %h, %h {indices = "ik,kj->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.mulf %m, %c : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @a_value_on_the_far_side_of_a_collective_is_computed_again
func.func @a_value_on_the_far_side_of_a_collective_is_computed_again(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "x"})
    -> (tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  // CHECK:      %[[N:.*]] = ds.all_reduce
  // CHECK-NEXT: %[[B:.*]] = ds.broadcast %[[N]]
  // CHECK-NEXT: %[[E:.*]] = math.exp
  // CHECK-NEXT: arith.divf %[[E]], %[[B]]
  %e = math.exp %x : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %s = ds.reduce %e {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<f32, #ds.layout<[], partial = {dp}>>
  %n = ds.all_reduce %s over "dp" : tensor<f32, #ds.layout<[], partial = {dp}>> -> tensor<f32>
  %b = ds.broadcast %n {dims = array<i64>} : (tensor<f32>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %y = arith.divf %e, %b : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %y : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}
