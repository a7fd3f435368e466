// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @divisor_of_another_shape(%x: tensor<8x4xf32>, %y: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.divide' op requires the same shape for all operands and results}}
  %0 = ds.divide %x by %y : tensor<8x4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C1
func.func @divisor_of_another_type(%x: tensor<8x4xf32>, %y: tensor<8x4xf64>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.divide' op requires the same element type for all operands and results}}
  %0 = ds.divide %x by %y : tensor<8x4xf32>, tensor<8x4xf64> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
