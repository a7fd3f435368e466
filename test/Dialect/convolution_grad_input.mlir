// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_the_shape_of_the_input
func.func @gives_the_shape_of_the_input(%a: tensor<4x3x3xf32>, %b: tensor<2x4x4xf32>) -> tensor<2x3x8xf32> {
  // CHECK: ds.convolution_grad_input {{.*}}: (tensor<4x3x3xf32>, tensor<2x4x4xf32>) -> tensor<2x3x8xf32>
  %0 = ds.convolution_grad_input %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<4x3x3xf32>, tensor<2x4x4xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
