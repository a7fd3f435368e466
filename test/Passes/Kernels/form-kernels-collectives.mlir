// RUN: ds-opt %s --ds-form-kernels --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-form-kernels -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @a_collective_beside_the_path_does_not_part_a_kernel
func.func @a_collective_beside_the_path_does_not_part_a_kernel(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "x"}, %p: tensor<4xf32, #ds.layout<[{}], flat = {dp}>> {ds.name = "p"})
    -> (tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  // CHECK-COUNT-1: ds.kernel
  // CHECK-NOT:     ds.kernel
  // CHECK:         return
  %e = math.exp %x : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8xf32, #ds.layout<[{dp}]>>
  %g = ds.all_gather %p over "dp" : tensor<4xf32, #ds.layout<[{}], flat = {dp}>> -> tensor<4xf32>
  %b = ds.broadcast %s {dims = array<i64: 0>} : (tensor<8xf32, #ds.layout<[{dp}]>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %q = ds.broadcast %g {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %d = arith.divf %e, %b : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %y = arith.mulf %d, %q : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %y : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}
