// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @more_than_there_are(%a: tensor<8x4xf32>) -> tensor<8x5xf32> {
  // expected-error @below {{'ds.top_k' op k must be at most 4}}
  %0:2 = ds.top_k %a {dim = 1 : i64} : (tensor<8x4xf32>) -> (tensor<8x5xf32>, tensor<8x5xi64>)
  return %0#0 : tensor<8x5xf32>
}

// -----

// C2
func.func @dim_that_is_negative(%a: tensor<8x4xf32>) -> tensor<8x2xf32> {
  // expected-error @below {{'ds.top_k' op dim must be in [0, 2), got -1}}
  %0:2 = ds.top_k %a {dim = -1 : i64} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  return %0#0 : tensor<8x2xf32>
}

// -----

// C3
func.func @values_of_other_rows(%a: tensor<8x4xf32>) -> tensor<7x2xf32> {
  // expected-error @below {{'ds.top_k' op values must have shape [8, 2], got [7, 2]}}
  %0:2 = ds.top_k %a {dim = 1 : i64} : (tensor<8x4xf32>) -> (tensor<7x2xf32>, tensor<7x2xi64>)
  return %0#0 : tensor<7x2xf32>
}

// -----

// C3
func.func @ids_of_another_shape(%a: tensor<8x4xf32>) -> tensor<8x2xf32> {
  // expected-error @below {{'ds.top_k' op ids must have shape [8, 2], got [8, 3]}}
  %0:2 = ds.top_k %a {dim = 1 : i64} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x3xi64>)
  return %0#0 : tensor<8x2xf32>
}

// -----

// C4
func.func @values_of_another_type(%a: tensor<8x4xf32>) -> tensor<8x2xf64> {
  // expected-error @below {{'ds.top_k' op failed to verify that all of {input, values} have same element type}}
  %0, %1 = ds.top_k %a {dim = 1 : i64} : (tensor<8x4xf32>) -> (tensor<8x2xf64>, tensor<8x2xi64>)
  return %0 : tensor<8x2xf64>
}
