// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C3
func.func @input_of_another_type(%x: tensor<2x3x8xf64>, %g: tensor<2x4x6xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{'ds.convolution_grad_weight' op requires the same element type for all operands and results}}
  %0 = ds.convolution_grad_weight %x, %g {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3x8xf64>, tensor<2x4x6xf32>) -> tensor<4x3x3xf32>
  return %0 : tensor<4x3x3xf32>
}

// -----

// C1
func.func @no_spatial_dim(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<4x3xf32> {
  // expected-error @below {{'ds.convolution_grad_weight' op must have tensors of one rank >= 3}}
  %0 = ds.convolution_grad_weight %a, %b {dilations = array<i64>, pads = array<i64>, strides = array<i64>} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// C2
func.func @gradient_of_another_batch(%a: tensor<2x3x8xf32>, %b: tensor<1x4x4xf32>) -> tensor<4x3x3xf32> {
  // expected-error @below {{'ds.convolution_grad_weight' op must have one batch, and the weight's channels}}
  %0 = ds.convolution_grad_weight %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<1x4x4xf32>) -> tensor<4x3x3xf32>
  return %0 : tensor<4x3x3xf32>
}
