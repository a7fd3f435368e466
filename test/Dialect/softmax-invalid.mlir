// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @dim_that_is_not_there(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.softmax' op dim must be in [0, 2), got 2}}
  %0 = ds.softmax %a {dim = 2 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @result_of_another_shape(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'ds.softmax' op requires the same type for all operands and results}}
  %0 = ds.softmax %a {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
