// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @nothing() -> tensor<8x4xf32> {
  // expected-error @below {{'ds.concat' op expected 1 or more operands, but found 0}}
  %0 = ds.concat {dim = 0 : i64} : () -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @dim_that_is_not_there(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.concat' op dim must be in [0, 2), got 2}}
  %0 = ds.concat %a {dim = 2 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @input_of_another_rank(%a: tensor<8x4xf32>, %b: tensor<8xf32>) -> tensor<8x5xf32> {
  // expected-error @below {{'ds.concat' op inputs must have rank 2, got 1}}
  %0 = ds.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// C3
func.func @input_of_other_rows(%a: tensor<8x4xf32>, %b: tensor<7x3xf32>) -> tensor<8x7xf32> {
  // expected-error @below {{'ds.concat' op input beside its concatenated dim must have shape}}
  %0 = ds.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<7x3xf32>) -> tensor<8x7xf32>
  return %0 : tensor<8x7xf32>
}

// -----

// C4
func.func @result_of_another_length(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x7xf32> {
  // expected-error @below {{'ds.concat' op dim 1 of the result must be 8, got 7}}
  %0 = ds.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x7xf32>
  return %0 : tensor<8x7xf32>
}

// -----

// C5
func.func @inputs_of_two_types(%a: tensor<8x4xf32>, %b: tensor<8x4xf64>) -> tensor<8x8xf32> {
  // expected-error @below {{'ds.concat' op requires the same element type for all operands and results}}
  %0 = ds.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x4xf64>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
