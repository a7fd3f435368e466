// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @factor_of_another_shape(%x: tensor<8x4xf32>, %y: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.scale' op requires the same shape for all operands and results}}
  %0 = ds.scale %x by %y : tensor<8x4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @integers(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  // expected-error @below {{'ds.scale' op operand #0 must be static tensor of floats}}
  %0 = ds.scale %x by %y : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
