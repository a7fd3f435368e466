// RUN: ds-opt %s --split-input-file --verify-diagnostics

func.func @input_of_another_type(%x: tensor<2x3x8xf64>, %g: tensor<2x4x6xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{'ds.convolution_grad_weight' op requires the same element type for all operands and results}}
  %0 = ds.convolution_grad_weight %x, %g {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3x8xf64>, tensor<2x4x6xf32>) -> tensor<4x3x3xf32>
  return %0 : tensor<4x3x3xf32>
}
