// RUN: ds-opt %s --split-input-file --verify-diagnostics

func.func @gradient_of_another_type(%x: tensor<2x3x8xf32>, %g: tensor<2x3x4xf64>) -> tensor<2x3x8xf32> {
  // expected-error @below {{'ds.max_pool_grad' op requires the same element type for all operands and results}}
  %0 = ds.max_pool_grad %x, %g {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<2x3x4xf64>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
