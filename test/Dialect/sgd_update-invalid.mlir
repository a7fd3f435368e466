// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @velocity_of_another_shape(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<4xf32>, %d: tensor<f32>, %e: tensor<f32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.sgd_update' op operand 2 must have shape [8, 4], got [4]}}
  %0:2 = ds.sgd_update %a, %b, %c, %d, %e {dampening = 0.000000e+00 : f64, decay = 0.000000e+00 : f64, momentum = 9.000000e-01 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// -----

// C2
func.func @step_that_is_no_scalar(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>, %d: tensor<f32>, %e: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.sgd_update' op operand 4 must have shape [], got [4]}}
  %0:2 = ds.sgd_update %a, %b, %c, %d, %e {dampening = 0.000000e+00 : f64, decay = 0.000000e+00 : f64, momentum = 9.000000e-01 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}

// -----

// C3
func.func @velocity_of_another_type(%a: tensor<8x4xf32>, %b: tensor<f32>) -> tensor<8x4xf64> {
  // expected-error @below {{'ds.sgd_update' op failed to verify that all of {velocity, new_velocity} have same element type}}
  %0:2 = ds.sgd_update %a, %a, %a, %b, %b {dampening = 0.000000e+00 : f64, decay = 0.000000e+00 : f64, momentum = 9.000000e-01 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf64>)
  return %0#1 : tensor<8x4xf64>
}
