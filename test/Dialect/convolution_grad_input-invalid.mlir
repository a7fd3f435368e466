// RUN: ds-opt %s --split-input-file --verify-diagnostics

func.func @weight_of_another_type(%w: tensor<4x3x3xf64>, %g: tensor<2x4x6xf32>) -> tensor<2x3x8xf32> {
  // expected-error @below {{'ds.convolution_grad_input' op requires the same element type for all operands and results}}
  %0 = ds.convolution_grad_input %w, %g {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<4x3x3xf64>, tensor<2x4x6xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
