// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @no_spatial_dim(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'ds.convolution' op must have tensors of one rank >= 3}}
  %0 = ds.convolution %a, %b {dilations = array<i64>, pads = array<i64>, strides = array<i64>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// C2
func.func @channels_that_do_not_fit(%a: tensor<2x3x8xf32>, %b: tensor<4x2x3xf32>) -> tensor<2x4x4xf32> {
  // expected-error @below {{'ds.convolution' op weight must have 3 / groups input channels and a multiple of groups output channels, got 2 and 4 for 1 groups}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<4x2x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// C2
func.func @groups_that_do_not_divide(%a: tensor<2x6x8xf32>, %b: tensor<4x2x3xf32>) -> tensor<2x4x4xf32> {
  // expected-error @below {{'ds.convolution' op weight must have 6 / groups input channels}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>, groups = 3 : i64} : (tensor<2x6x8xf32>, tensor<4x2x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// C3
func.func @result_of_another_batch(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<1x4x4xf32> {
  // expected-error @below {{'ds.convolution' op result must start with [2, 4], got [1, 4]}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

// C4
func.func @strides_of_another_rank(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  // expected-error @below {{'ds.convolution' op strides must have 1 entries, got 2}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// C4
func.func @pads_at_the_begin_alone(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  // expected-error @below {{'ds.convolution' op pads must have 2 entries, got 1}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// C5
func.func @stride_of_zero(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  // expected-error @below {{'ds.convolution' op strides and dilations must be >= 1 and pads >= 0}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 0>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// -----

// C6
func.func @result_that_is_too_long(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x5xf32> {
  // expected-error @below {{'ds.convolution' op spatial dim 0 of the result must be 4, got 5}}
  %0 = ds.convolution %a, %b {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// -----

// C7
func.func @weight_of_another_type(%x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf64>) -> tensor<2x4x6xf32> {
  // expected-error @below {{'ds.convolution' op requires the same element type for all operands and results}}
  %0 = ds.convolution %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<4x3x3xf64>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}
