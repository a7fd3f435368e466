// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @result_of_another_shape(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'ds.stop_gradient' op requires the same type for all operands and results}}
  %0 = ds.stop_gradient %a : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
