// RUN: ds-opt %s --ds-expand-axes --ds-verify-layouts | FileCheck %s
ds.mesh @mesh <dp = 2, tp0 = 2, tp1 = 2>
// CHECK-NOT: ds.axes
ds.axes @mesh "tp" = ["tp0", "tp1"]

// CHECK: ds.variable @w
// CHECK-SAME: #ds.layout<[{}, {tp0, tp1}], flat = {dp}>
ds.variable @w {role = #ds.role<parameter>} : tensor<4x8xf32, #ds.layout<[{}, {tp}], flat = {dp}>>

// CHECK-LABEL: func.func @alias_stands_for_its_axes
// CHECK-SAME: tensor<8xf32, #ds.layout<[{dp, tp0, tp1}]>>
func.func @alias_stands_for_its_axes(%x: tensor<8xf32, #ds.layout<[{dp, tp}]>>) -> tensor<f32, #ds.layout<[], partial = {dp, tp}>> {
  // CHECK: ds.reduce
  // CHECK-SAME: -> tensor<f32, #ds.layout<[], partial = {dp, tp0, tp1}>>
  %0 = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8xf32, #ds.layout<[{dp, tp}]>>) -> tensor<f32, #ds.layout<[], partial = {dp, tp}>>
  return %0 : tensor<f32, #ds.layout<[], partial = {dp, tp}>>
}

// CHECK-LABEL: func.func @other_axes_stay
// CHECK-SAME: tensor<8xf32, #ds.layout<[{dp}]>>
func.func @other_axes_stay(%x: tensor<8xf32, #ds.layout<[{dp}]>>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  return %x : tensor<8xf32, #ds.layout<[{dp}]>>
}
