// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @table_without_rows(%a: tensor<f32>, %b: tensor<2xi64>) -> tensor<2xf32> {
  // expected-error @below {{'ds.gather_rows' op table must have rows}}
  %0 = ds.gather_rows %a, %b : (tensor<f32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// C2
func.func @result_of_another_width(%a: tensor<8x4xf32>, %b: tensor<2xi64>) -> tensor<2x5xf32> {
  // expected-error @below {{'ds.gather_rows' op result must have shape [2, 4], got [2, 5]}}
  %0 = ds.gather_rows %a, %b : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// C3
func.func @ids_of_floats(%a: tensor<8x4xf32>, %b: tensor<2xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'ds.gather_rows' op operand #1 must be static tensor of i64}}
  %0 = ds.gather_rows %a, %b : (tensor<8x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// C4
func.func @result_of_another_type(%a: tensor<8x4xf32>, %b: tensor<2xi64>) -> tensor<2x4xf64> {
  // expected-error @below {{'ds.gather_rows' op failed to verify that all of {table, result} have same element type}}
  %0 = ds.gather_rows %a, %b : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}
