// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @another_shape(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ds.relayout' op requires the same shape for all operands and results}}
  %0 = ds.relayout %x : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C1
func.func @another_element_type(%x: tensor<8xf32>) -> tensor<8xf64> {
  // expected-error @below {{'ds.relayout' op requires the same element type for all operands and results}}
  %0 = ds.relayout %x : tensor<8xf32> -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
