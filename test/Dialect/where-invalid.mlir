// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @condition_of_another_shape(%x: tensor<8xi1>, %y: tensor<8x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.where' op requires the same shape for all operands and results}}
  %0 = ds.where %x, %y, %z : tensor<8xi1>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @condition_of_floats(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.where' op operand #0 must be static tensor of i1}}
  %0 = ds.where %x, %y, %z : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @branches_of_two_types(%c: tensor<8xi1>, %x: tensor<8xf32>, %y: tensor<8xf64>) -> tensor<8xf32> {
  // expected-error @below {{'ds.where' op failed to verify that all of {on_true, on_false, result} have same element type}}
  %0 = ds.where %c, %x, %y : tensor<8xi1>, tensor<8xf32>, tensor<8xf64> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
