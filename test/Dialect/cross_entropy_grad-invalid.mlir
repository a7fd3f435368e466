// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @labels_of_another_shape(%a: tensor<3x5xf32>, %b: tensor<5xi64>, %c: tensor<3xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.cross_entropy_grad' op labels must have shape [3], got [5]}}
  %0 = ds.cross_entropy_grad %a, %b, %c {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<5xi64>, tensor<3xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C1
func.func @gradient_of_another_shape(%a: tensor<3x5xf32>, %b: tensor<3xi64>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.cross_entropy_grad' op gradient must have shape [3], got [3, 5]}}
  %0 = ds.cross_entropy_grad %a, %b, %c {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C2
func.func @result_without_classes(%a: tensor<3x5xf32>, %b: tensor<3xi64>, %c: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'ds.cross_entropy_grad' op result must have shape [3, 5], got [3]}}
  %0 = ds.cross_entropy_grad %a, %b, %c {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// C3
func.func @gradient_of_another_type(%a: tensor<3x5xf32>, %b: tensor<3xi64>, %c: tensor<3xf64>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.cross_entropy_grad' op failed to verify that all of {logits, gradient, result} have same element type}}
  %0 = ds.cross_entropy_grad %a, %b, %c {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>, tensor<3xf64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
