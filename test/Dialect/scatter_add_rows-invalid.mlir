// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @result_without_rows(%a: tensor<2xi64>, %b: tensor<2xf32>) -> tensor<f32> {
  // expected-error @below {{'ds.scatter_add_rows' op result must have rows}}
  %0 = ds.scatter_add_rows %a, %b : (tensor<2xi64>, tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// C2
func.func @updates_of_another_width(%a: tensor<2xi64>, %b: tensor<2x5xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.scatter_add_rows' op updates must have shape [2, 4], got [2, 5]}}
  %0 = ds.scatter_add_rows %a, %b : (tensor<2xi64>, tensor<2x5xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<2xi64>, %b: tensor<2x4xf32>) -> tensor<8x4xf64> {
  // expected-error @below {{'ds.scatter_add_rows' op failed to verify that all of {updates, result} have same element type}}
  %0 = ds.scatter_add_rows %a, %b : (tensor<2xi64>, tensor<2x4xf32>) -> tensor<8x4xf64>
  return %0 : tensor<8x4xf64>
}
