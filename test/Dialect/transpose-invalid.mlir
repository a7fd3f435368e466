// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @dim_twice(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.transpose' op permutation must have each of the 2 dims once}}
  %0 = ds.transpose %a {permutation = array<i64: 0, 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C1
func.func @dim_forgotten(%a: tensor<2x8x4xf32>) -> tensor<8x2xf32> {
  // expected-error @below {{'ds.transpose' op permutation must have each of the 3 dims once}}
  %0 = ds.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x8x4xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// C2
func.func @result_that_is_not_permuted(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.transpose' op result must have shape [4, 8], got [8, 4]}}
  %0 = ds.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<8x4xf32>) -> tensor<4x8xf64> {
  // expected-error @below {{'ds.transpose' op requires the same element type for all operands and results}}
  %0 = ds.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf64>
  return %0 : tensor<4x8xf64>
}
