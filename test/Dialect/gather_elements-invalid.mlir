// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @ids_of_another_rank(%a: tensor<8x4xf32>, %b: tensor<8xi64>) -> tensor<8xf32> {
  // expected-error @below {{'ds.gather_elements' op data and ids must have one rank, got 2 and 1}}
  %0 = ds.gather_elements %a, %b {dim = 0 : i64} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// C2
func.func @dim_that_is_not_there(%a: tensor<8x4xf32>, %b: tensor<8x2xi64>) -> tensor<8x2xf32> {
  // expected-error @below {{'ds.gather_elements' op dim must be in [0, 2), got 2}}
  %0 = ds.gather_elements %a, %b {dim = 2 : i64} : (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// C1
func.func @ids_of_other_rows(%a: tensor<8x4xf32>, %b: tensor<7x2xi64>) -> tensor<7x2xf32> {
  // expected-error @below {{'ds.gather_elements' op data must have shape [7, 4], got [8, 4]}}
  %0 = ds.gather_elements %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<7x2xi64>) -> tensor<7x2xf32>
  return %0 : tensor<7x2xf32>
}

// -----

// C3
func.func @result_of_the_shape_of_the_data(%a: tensor<8x4xf32>, %b: tensor<8x2xi64>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.gather_elements' op result must have shape [8, 2], got [8, 4]}}
  %0 = ds.gather_elements %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C4
func.func @result_of_another_type(%a: tensor<8x4xf32>, %b: tensor<8x2xi64>) -> tensor<8x2xf64> {
  // expected-error @below {{'ds.gather_elements' op failed to verify that all of {input, result} have same element type}}
  %0 = ds.gather_elements %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x2xf64>
  return %0 : tensor<8x2xf64>
}
