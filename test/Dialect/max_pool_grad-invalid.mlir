// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C3
func.func @gradient_of_another_type(%x: tensor<2x3x8xf32>, %g: tensor<2x3x4xf64>) -> tensor<2x3x8xf32> {
  // expected-error @below {{'ds.max_pool_grad' op requires the same element type for all operands and results}}
  %0 = ds.max_pool_grad %x, %g {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<2x3x4xf64>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// -----

// C1
func.func @gradient_of_other_channels(%a: tensor<2x3x8xf32>, %b: tensor<2x4x4xf32>) -> tensor<2x3x8xf32> {
  // expected-error @below {{'ds.max_pool_grad' op gradient must have the batch and channels of the input}}
  %0 = ds.max_pool_grad %a, %b {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<2x4x4xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// -----

// C2
func.func @result_of_another_shape(%a: tensor<2x3x8xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x9xf32> {
  // expected-error @below {{'ds.max_pool_grad' op result must have shape [2, 3, 8], got [2, 3, 9]}}
  %0 = ds.max_pool_grad %a, %b {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<2x3x9xf32>
  return %0 : tensor<2x3x9xf32>
}
