// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @elements_that_appear(%a: tensor<8x4xf32>) -> tensor<2x17xf32> {
  // expected-error @below {{'ds.reshape' op result must have 32 elements, got 34}}
  %0 = ds.reshape %a : (tensor<8x4xf32>) -> tensor<2x17xf32>
  return %0 : tensor<2x17xf32>
}

// -----

// C2
func.func @result_of_another_type(%a: tensor<8x4xf32>) -> tensor<32xi32> {
  // expected-error @below {{'ds.reshape' op requires the same element type for all operands and results}}
  %0 = ds.reshape %a : (tensor<8x4xf32>) -> tensor<32xi32>
  return %0 : tensor<32xi32>
}
