// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @strides_over_padded_images
func.func @strides_over_padded_images(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  // CHECK: ds.convolution {{.*}}: (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}
