// RUN: ds-opt %s --ds-form-kernels --ds-verify-layouts --ds-verify-schedule | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-form-kernels -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @an_elementwise_chain_is_one_kernel
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}})
func.func @an_elementwise_chain_is_one_kernel(%x: tensor<8x4xf32> {ds.name = "x"}, %y: tensor<8x4xf32> {ds.name = "y"}) -> (tensor<8x4xf32> {ds.name = "z"}) {
  // CHECK:      %[[K:.*]] = ds.kernel(%[[X]], %[[Y]])
  // CHECK:      math.exp
  // CHECK:      arith.addf
  // CHECK:      ds.yield
  // CHECK-NOT:  ds.kernel
  // CHECK:      return %[[K]]
  %e = math.exp %x : tensor<8x4xf32>
  %z = arith.addf %e, %y : tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @a_row_is_folded_and_used_in_one_kernel
func.func @a_row_is_folded_and_used_in_one_kernel(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  // CHECK:     ds.kernel
  // CHECK:     ds.reduce
  // CHECK:     ds.broadcast
  // CHECK:     arith.subf
  // CHECK:     ds.yield
  // CHECK-NOT: ds.kernel
  // CHECK:     return
  %m = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<max>} : (tensor<8x4xf32>) -> tensor<8xf32>
  %b = ds.broadcast %m {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x4xf32>
  %y = arith.subf %x, %b : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @folded_rows_are_used_in_another_kernel
func.func @folded_rows_are_used_in_another_kernel(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  // CHECK:     %[[M:.*]] = ds.kernel
  // CHECK:     ds.reduce
  // CHECK:     ds.kernel({{.*}}%[[M]]
  // CHECK:     arith.subf
  %m = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<max>} : (tensor<8x4xf32>) -> tensor<4xf32>
  %b = ds.broadcast %m {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  %y = arith.subf %x, %b : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @ops_on_the_two_sides_of_a_matmul_stay_apart
func.func @ops_on_the_two_sides_of_a_matmul_stay_apart(%x: tensor<4x4xf32> {ds.name = "x"}) -> (tensor<4x4xf32> {ds.name = "y"}) {
  // CHECK:      %[[A:.*]] = ds.kernel
  // CHECK:      math.exp
  // CHECK:      %[[M:.*]] = ds.matmul %[[A]], %[[A]]
  // CHECK:      ds.kernel({{.*}}%[[M]]
  // CHECK:      arith.addf
  %e = math.exp %x : tensor<4x4xf32>
  %m = ds.matmul %e, %e {indices = "ik,kj->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = arith.addf %m, %e : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @layouts_of_shards_are_kept
func.func @layouts_of_shards_are_kept(%x: tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {ds.name = "x"}) -> (tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {ds.name = "y"}) {
  // CHECK: ds.kernel(%{{.*}}) : (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>) -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  %y = math.exp %x : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  return %y : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}

// CHECK-LABEL: func.func @leaves_matmuls_and_casts_alone
func.func @leaves_matmuls_and_casts_alone(%x: tensor<4x4xf32> {ds.name = "x"}) -> (tensor<4x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  // CHECK-NEXT: %[[M:.*]] = ds.matmul
  // CHECK-NEXT: %[[S:.*]] = ds.take_shard %[[M]]
  // CHECK-NEXT: return %[[S]]
  %m = ds.matmul %x, %x {indices = "ik,kj->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = ds.take_shard %m over "dp" : tensor<4x4xf32> -> tensor<4x4xf32, #ds.layout<[{dp}, {}]>>
  return %s : tensor<4x4xf32, #ds.layout<[{dp}, {}]>>
}

// CHECK-LABEL: func.func @readers_of_one_tensor_are_one_kernel
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[G:.*]]: {{.*}})
func.func @readers_of_one_tensor_are_one_kernel(%x: tensor<8x4xf32> {ds.name = "x"}, %g: tensor<8x4xf32> {ds.name = "g"}) -> (tensor<4xf32> {ds.name = "a"}, tensor<4xf32> {ds.name = "b"}) {
  // CHECK:      %[[K:.*]]:2 = ds.kernel
  // CHECK-NOT:  ds.kernel
  // CHECK:      return %[[K]]#0, %[[K]]#1
  %p = arith.mulf %x, %g : tensor<8x4xf32>
  %a = ds.reduce %p {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<4xf32>
  %b = ds.reduce %g {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @what_is_computed_per_row_joins_the_kernel_of_the_rows
func.func @what_is_computed_per_row_joins_the_kernel_of_the_rows(%x: tensor<8x4xf32> {ds.name = "x"}, %l: tensor<8xi64> {ds.name = "l"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  // CHECK:      %[[V:.*]] = ds.kernel
  // CHECK:      arith.cmpi
  // CHECK:      ds.yield
  // CHECK:      ds.kernel({{.*}}%[[V]]
  // CHECK:      ds.reduce
  // CHECK:      arith.select
  // CHECK:      arith.mulf
  // CHECK-NOT:  ds.kernel
  // CHECK:      return
  %zero = arith.constant dense<0> : tensor<8xi64>
  %f = arith.constant dense<0.0> : tensor<8xf32>
  %s = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
  %v = arith.cmpi ne, %l, %zero : tensor<8xi64>
  %r = arith.select %v, %s, %f : tensor<8xi1>, tensor<8xf32>
  %b = ds.broadcast %r {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x4xf32>
  %y = arith.mulf %x, %b : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The sum is read by a broadcast alone, which each kernel makes anew.
// CHECK-LABEL: func.func @yields_only_what_is_read
// CHECK: ds.kernel(%{{.*}}) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NOT: ds.kernel
// CHECK: return
func.func @yields_only_what_is_read(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  %s = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
  %b = ds.broadcast %s {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x4xf32>
  %d = arith.subf %x, %b : tensor<8x4xf32>
  %y = arith.mulf %d, %d : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// A guarded update is one kernel, whatever the order of the assigns.
// CHECK-LABEL: func.func @assigns_do_not_separate
// CHECK:     %[[K:.*]]:2 = ds.kernel
// CHECK-NOT: ds.kernel
// CHECK-DAG: ds.assign @w, %[[K]]#
// CHECK-DAG: ds.assign @m, %[[K]]#
ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32>
ds.variable @m {role = #ds.role<optimizer>} : tensor<8xf32>
func.func @assigns_do_not_separate(%g: tensor<8xf32> {ds.name = "g"}, %finite: tensor<i1> {ds.name = "f"}) {
  %w = ds.read @w : tensor<8xf32>
  %m = ds.read @m : tensor<8xf32>
  %m1 = arith.addf %m, %g : tensor<8xf32>
  %w1 = arith.subf %w, %m1 : tensor<8xf32>
  %b = ds.broadcast %finite {dims = array<i64>} : (tensor<i1>) -> tensor<8xi1>
  %w2 = arith.select %b, %w1, %w : tensor<8xi1>, tensor<8xf32>
  %m2 = arith.select %b, %m1, %m : tensor<8xi1>, tensor<8xf32>
  ds.assign @w, %w2 : tensor<8xf32>
  ds.assign @m, %m2 : tensor<8xf32>
  return
}
