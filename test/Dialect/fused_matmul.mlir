// RUN: ds-opt %s --verify-roundtrip --ds-verify-layouts | FileCheck %s
ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @adds_a_bias_along_columns
// CHECK: ds.fused_matmul
// CHECK-SAME: bias_indices = "n"
func.func @adds_a_bias_along_columns(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, %w: tensor<4x6xf32>, %b: tensor<6xf32>)
    -> tensor<8x6xf32, #ds.layout<[{dp}, {}]>> {
  %0 = ds.fused_matmul %x, %w, %b {indices = "mk,kn->mn", bias_indices = "n", operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32, #ds.layout<[{dp}, {}]>>
  return %0 : tensor<8x6xf32, #ds.layout<[{dp}, {}]>>
}

// CHECK-LABEL: func.func @adds_to_what_is_partial_alike
// CHECK: ds.fused_matmul
func.func @adds_to_what_is_partial_alike(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, %g: tensor<8x6xf32, #ds.layout<[{dp}, {}]>>,
    %sum: tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  %0 = ds.fused_matmul %x, %g, %sum {indices = "mk,mn->kn", operandSegmentSizes = array<i32: 1, 1, 0, 1>}
      : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, tensor<8x6xf32, #ds.layout<[{dp}, {}]>>, tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>>)
      -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
}

// CHECK-LABEL: func.func @activates_what_it_writes
// CHECK: ds.fused_matmul
// CHECK-SAME: activation = #ds.activation<relu>
func.func @activates_what_it_writes(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, %w: tensor<4x6xf32>) -> tensor<8x6xf32, #ds.layout<[{dp}, {}]>> {
  %0 = ds.fused_matmul %x, %w {indices = "mk,kn->mn", activation = #ds.activation<relu>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, tensor<4x6xf32>) -> tensor<8x6xf32, #ds.layout<[{dp}, {}]>>
  return %0 : tensor<8x6xf32, #ds.layout<[{dp}, {}]>>
}
