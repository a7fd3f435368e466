// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_the_shape_of_the_weight
func.func @gives_the_shape_of_the_weight(%a: tensor<2x3x8xf32>, %b: tensor<2x4x4xf32>) -> tensor<4x3x3xf32> {
  // CHECK: ds.convolution_grad_weight {{.*}}: (tensor<2x3x8xf32>, tensor<2x4x4xf32>) -> tensor<4x3x3xf32>
  %0 = ds.convolution_grad_weight %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<2x4x4xf32>) -> tensor<4x3x3xf32>
  return %0 : tensor<4x3x3xf32>
}
