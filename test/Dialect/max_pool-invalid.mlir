// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @other_channels(%a: tensor<2x3x8xf32>) -> tensor<2x4x4xf32> {
  // expected-error @below {{'ds.max_pool' op result must have the batch and channels of the input}}
  %0 = ds.max_pool %a {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// C2
func.func @kernel_of_another_rank(%a: tensor<2x3x8xf32>) -> tensor<2x3x4xf32> {
  // expected-error @below {{'ds.max_pool' op kernel must have 1 entries, got 2}}
  %0 = ds.max_pool %a {dilations = array<i64: 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// C3
func.func @result_that_is_too_short(%a: tensor<2x3x8xf32>) -> tensor<2x3x2xf32> {
  // expected-error @below {{'ds.max_pool' op spatial dim 0 of the result must be 4, got 2}}
  %0 = ds.max_pool %a {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3x2xf32>
  return %0 : tensor<2x3x2xf32>
}

// -----

// C4
func.func @result_of_another_type(%x: tensor<2x3x8xf32>) -> tensor<2x3x4xf64> {
  // expected-error @below {{'ds.max_pool' op requires the same element type for all operands and results}}
  %0 = ds.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf64>
  return %0 : tensor<2x3x4xf64>
}
