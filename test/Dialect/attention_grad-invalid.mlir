// RUN: ds-opt %s --split-input-file --verify-diagnostics

func.func @gradient_of_another_type(%q: tensor<2x4x8x16xf32>, %g: tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf32> {
  // expected-error @below {{'ds.attention_grad' op requires the same element type for all operands and results}}
  %0:3 = ds.attention_grad %q, %q, %q, %g {scale = 0.25 : f64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf64>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return %0#0 : tensor<2x4x8x16xf32>
}
