// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @offsets_of_another_rank(%a: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error @below {{'ds.slice' op offsets must have 2 entries, got 1}}
  %0 = ds.slice %a {offsets = array<i64: 0>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// C2
func.func @past_the_end(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.slice' op dim 0 must stay in [0, 8), got 1 to 8}}
  %0 = ds.slice %a {offsets = array<i64: 1, 0>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @before_the_begin(%a: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error @below {{'ds.slice' op dim 0 must stay in [0, 8), got 3 to -1}}
  %0 = ds.slice %a {offsets = array<i64: 3, 0>, strides = array<i64: -2, 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<8x4xf32>) -> tensor<3x4xf64> {
  // expected-error @below {{'ds.slice' op requires the same element type for all operands and results}}
  %0 = ds.slice %a {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}
