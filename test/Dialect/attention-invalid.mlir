// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @three_dims(%a: tensor<2x4x6xf32>, %b: tensor<2x4x6xf32>, %c: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  // expected-error @below {{'ds.attention' op query, key and value must have 4 dims}}
  %0 = ds.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}

// -----

// C2
func.func @heads_that_do_not_divide(%a: tensor<2x4x6x8xf32>, %b: tensor<2x3x5x8xf32>, %c: tensor<2x3x5x3xf32>) -> tensor<2x4x6x3xf32> {
  // expected-error @below {{'ds.attention' op key must have the batch and the width of the query and divide its heads}}
  %0 = ds.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x3xf32>) -> tensor<2x4x6x3xf32>
  return %0 : tensor<2x4x6x3xf32>
}

// -----

// C2
func.func @key_of_another_width(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x7xf32>, %c: tensor<2x2x5x3xf32>) -> tensor<2x4x6x3xf32> {
  // expected-error @below {{'ds.attention' op key must have the batch and the width of the query and divide its heads}}
  %0 = ds.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x7xf32>, tensor<2x2x5x3xf32>) -> tensor<2x4x6x3xf32>
  return %0 : tensor<2x4x6x3xf32>
}

// -----

// C3
func.func @value_of_another_length(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x4x3xf32>) -> tensor<2x4x6x3xf32> {
  // expected-error @below {{'ds.attention' op value must have shape [2, 2, 5, 3], got [2, 2, 4, 3]}}
  %0 = ds.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x4x3xf32>) -> tensor<2x4x6x3xf32>
  return %0 : tensor<2x4x6x3xf32>
}

// -----

// C4
func.func @result_of_the_width_of_the_query(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x5x3xf32>) -> tensor<2x4x6x8xf32> {
  // expected-error @below {{'ds.attention' op result must have shape [2, 4, 6, 3], got [2, 4, 6, 8]}}
  %0 = ds.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>) -> tensor<2x4x6x8xf32>
  return %0 : tensor<2x4x6x8xf32>
}

// -----

// C5
func.func @bias_that_does_not_broadcast(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x5x3xf32>, %d: tensor<2x2x6x5xf32>) -> tensor<2x4x6x3xf32> {
  // expected-error @below {{'ds.attention' op bias must have shape [B or 1, H or 1, S or 1, T]}}
  %0 = ds.attention %a, %b, %c, %d {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<2x2x6x5xf32>) -> tensor<2x4x6x3xf32>
  return %0 : tensor<2x4x6x3xf32>
}

// -----

// C6
func.func @value_of_another_type(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>, %v: tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf32> {
  // expected-error @below {{'ds.attention' op requires the same element type for all operands and results}}
  %0 = ds.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf32>
  return %0 : tensor<2x4x8x16xf32>
}
