// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @gradient_of_another_shape(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>, %c: tensor<8x4xf32>, %d: tensor<8x4xf32>, %e: tensor<f32>, %g: tensor<f32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.adam_update' op operand 1 must have shape [8, 4], got [4, 8]}}
  %0:3 = ds.adam_update %a, %b, %c, %d, %e, %g {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, decay = 0.000000e+00 : f64, decoupled, epsilon = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// -----

// C2
func.func @rate_that_is_no_scalar(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>, %d: tensor<8x4xf32>, %e: tensor<1xf32>, %g: tensor<f32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.adam_update' op operand 4 must have shape [], got [1]}}
  %0:3 = ds.adam_update %a, %b, %c, %d, %e, %g {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, decay = 0.000000e+00 : f64, decoupled, epsilon = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1xf32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// -----

// C1
func.func @result_of_another_shape(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>, %d: tensor<8x4xf32>, %e: tensor<f32>, %g: tensor<f32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.adam_update' op result must have shape [8, 4], got [4, 8]}}
  %0:3 = ds.adam_update %a, %b, %c, %d, %e, %g {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, decay = 0.000000e+00 : f64, decoupled, epsilon = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// -----

// C3
func.func @mean_of_another_type(%a: tensor<8x4xf32>, %b: tensor<f32>) -> tensor<8x4xf64> {
  // expected-error @below {{'ds.adam_update' op failed to verify that all of {mean, new_mean} have same element type}}
  %0:3 = ds.adam_update %a, %a, %a, %a, %b, %b {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, decay = 0.000000e+00 : f64, decoupled, epsilon = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf64>, tensor<8x4xf32>)
  return %0#1 : tensor<8x4xf64>
}
