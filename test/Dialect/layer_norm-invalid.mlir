// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @result_of_another_shape(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'ds.layer_norm' op result must have shape [8, 4], got [4, 8]}}
  %0 = ds.layer_norm %a, %b, %c {epsilon = 1.000000e-05 : f64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// C2
func.func @scalar_scale(%a: tensor<8x4xf32>, %b: tensor<f32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.layer_norm' op scale must have 1 to 2 dims, got 0}}
  %0 = ds.layer_norm %a, %b {epsilon = 1.000000e-05 : f64} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @scale_of_another_width(%a: tensor<8x4xf32>, %b: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.layer_norm' op scale must have shape [4], got [8]}}
  %0 = ds.layer_norm %a, %b {epsilon = 1.000000e-05 : f64} : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @bias_of_another_width(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.layer_norm' op bias must have shape [4], got [8]}}
  %0 = ds.layer_norm %a, %b, %c {epsilon = 1.000000e-05 : f64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C4
func.func @bias_of_another_type(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf64>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.layer_norm' op requires the same element type for all operands and results}}
  %0 = ds.layer_norm %a, %b, %c {epsilon = 1.000000e-05 : f64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
