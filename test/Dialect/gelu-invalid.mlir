// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @result_of_another_type(%a: tensor<8x4xf32>) -> tensor<8x4xf64> {
  // expected-error @below {{'ds.gelu' op requires the same type for all operands and results}}
  %0 = ds.gelu %a {kind = #ds.gelu_kind<erf>} : (tensor<8x4xf32>) -> tensor<8x4xf64>
  return %0 : tensor<8x4xf64>
}

// -----

// C2
func.func @integers(%a: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @below {{'ds.gelu' op operand #0 must be static tensor of floats}}
  %0 = ds.gelu %a {kind = #ds.gelu_kind<erf>} : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
