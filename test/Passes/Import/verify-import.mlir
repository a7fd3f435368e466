// RUN: ds-opt %s --ds-verify-import | FileCheck %s

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
ds.variable @mean {role = #ds.role<buffer>} : tensor<4xf32>

// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  %w = ds.read @w : tensor<4xf32>
  %b = ds.broadcast %w {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: arith.mulf
  %y = arith.mulf %x, %b : tensor<8x4xf32>
  %m = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<4xf32>
  ds.assign @mean, %m : tensor<4xf32>
  return %y : tensor<8x4xf32>
}
