// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @dims_out_of_order(%a: tensor<2x8x4xf32>) -> tensor<8xf32> {
  // expected-error @below {{'ds.reduce' op dims must be ascending and in [0, 3), got 0 after 2}}
  %0 = ds.reduce %a {dims = array<i64: 2, 0>, kind = #ds.reduction<sum>} : (tensor<2x8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C1
func.func @dim_that_is_not_there(%a: tensor<8x4xf32>) -> tensor<8xf32> {
  // expected-error @below {{'ds.reduce' op dims must be ascending and in [0, 2), got 2 after -1}}
  %0 = ds.reduce %a {dims = array<i64: 2>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @result_that_keeps_the_dim(%a: tensor<8x4xf32>) -> tensor<8x1xf32> {
  // expected-error @below {{'ds.reduce' op result must have shape [8], got [8, 1]}}
  %0 = ds.reduce %a {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<8x4xf32>) -> tensor<8xf64> {
  // expected-error @below {{'ds.reduce' op requires the same element type for all operands and results}}
  %0 = ds.reduce %a {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
