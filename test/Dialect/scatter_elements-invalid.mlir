// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @result_of_other_rows(%a: tensor<8x2xi64>, %b: tensor<8x2xf32>) -> tensor<7x4xf32> {
  // expected-error @below {{'ds.scatter_elements' op data must have shape [8, 4], got [7, 4]}}
  %0 = ds.scatter_elements %a, %b {dim = 1 : i64} : (tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}

// -----

// C2
func.func @updates_of_another_shape(%a: tensor<8x2xi64>, %b: tensor<8x3xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.scatter_elements' op updates must have shape [8, 2], got [8, 3]}}
  %0 = ds.scatter_elements %a, %b {dim = 1 : i64} : (tensor<8x2xi64>, tensor<8x3xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<8x2xi64>, %b: tensor<8x2xf32>) -> tensor<8x4xf64> {
  // expected-error @below {{'ds.scatter_elements' op failed to verify that all of {updates, result} have same element type}}
  %0 = ds.scatter_elements %a, %b {dim = 1 : i64} : (tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<8x4xf64>
  return %0 : tensor<8x4xf64>
}
