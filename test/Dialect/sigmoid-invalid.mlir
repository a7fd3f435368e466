// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @result_of_another_shape(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'ds.sigmoid' op requires the same type for all operands and results}}
  %0 = ds.sigmoid %a : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// C2
func.func @dynamic_shape(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'ds.sigmoid' op operand #0 must be static tensor of floats}}
  %0 = ds.sigmoid %a : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
