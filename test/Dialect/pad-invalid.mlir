// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @low_of_another_rank(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.pad' op low must have 2 entries, got 1}}
  %0 = ds.pad %a {interior = array<i64: 0, 0>, low = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @result_that_is_too_short(%a: tensor<4xf32>) -> tensor<7xf32> {
  // expected-error @below {{'ds.pad' op dim 0 of the result must hold [1, 8), got 7}}
  %0 = ds.pad %a {interior = array<i64: 1>, low = array<i64: 1>} : (tensor<4xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<4xf32>) -> tensor<6xf64> {
  // expected-error @below {{'ds.pad' op requires the same element type for all operands and results}}
  %0 = ds.pad %a {low = array<i64: 1>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<6xf64>
  return %0 : tensor<6xf64>
}
