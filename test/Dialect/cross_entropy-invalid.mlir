// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @logits_without_classes(%a: tensor<f32>, %b: tensor<i64>) -> tensor<f32> {
  // expected-error @below {{'ds.cross_entropy' op logits must have a dim of classes}}
  %0 = ds.cross_entropy %a, %b {ignore_index = -100 : i64} : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// C2
func.func @labels_of_another_shape(%a: tensor<3x5xf32>, %b: tensor<5xi64>) -> tensor<3xf32> {
  // expected-error @below {{'ds.cross_entropy' op labels must have shape [3], got [5]}}
  %0 = ds.cross_entropy %a, %b {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<5xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// C2
func.func @result_with_classes(%a: tensor<3x5xf32>, %b: tensor<3xi64>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.cross_entropy' op result must have shape [3], got [3, 5]}}
  %0 = ds.cross_entropy %a, %b {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<3x5xf32>, %b: tensor<3xi64>) -> tensor<3xf64> {
  // expected-error @below {{'ds.cross_entropy' op failed to verify that all of {logits, result} have same element type}}
  %0 = ds.cross_entropy %a, %b {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}
