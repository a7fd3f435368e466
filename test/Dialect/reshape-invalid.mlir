// RUN: ds-opt %s --split-input-file --verify-diagnostics

func.func @elements_that_appear(%a: tensor<8x4xf32>) -> tensor<2x17xf32> {
  // expected-error @below {{'ds.reshape' op result must have 32 elements, got 34}}
  %0 = ds.reshape %a : (tensor<8x4xf32>) -> tensor<2x17xf32>
  return %0 : tensor<2x17xf32>
}
