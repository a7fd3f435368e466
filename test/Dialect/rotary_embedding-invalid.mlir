// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @odd_width(%a: tensor<6x7xf32>, %b: tensor<6x3xf32>, %c: tensor<6x3xf32>) -> tensor<6x7xf32> {
  // expected-error @below {{'ds.rotary_embedding' op input must have an even last dim}}
  %0 = ds.rotary_embedding %a, %b, %c : (tensor<6x7xf32>, tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}

// -----

// C2
func.func @angles_of_three_quarters(%a: tensor<6x8xf32>, %b: tensor<6x6xf32>, %c: tensor<6x6xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{'ds.rotary_embedding' op cosine must have shape [6, 4], got [6, 6]}}
  %0 = ds.rotary_embedding %a, %b, %c : (tensor<6x8xf32>, tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// C2
func.func @sine_of_one_half(%a: tensor<6x8xf32>, %b: tensor<6x8xf32>, %c: tensor<6x4xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{'ds.rotary_embedding' op sine must have shape [6, 8], got [6, 4]}}
  %0 = ds.rotary_embedding %a, %b, %c : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// C3
func.func @more_dims_than_the_input(%a: tensor<6x8xf32>, %b: tensor<2x6x4xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{'ds.rotary_embedding' op cosine must have a rank in [1, 2], got 3}}
  %0 = ds.rotary_embedding %a, %b, %b : (tensor<6x8xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// C4
func.func @dims_of_other_tables(%a: tensor<2x6x8xf32>, %b: tensor<6x4xf32>) -> tensor<2x6x8xf32> {
  // expected-error @below {{'ds.rotary_embedding' op dims must have 1 entries, got 2}}
  %0 = ds.rotary_embedding %a, %b, %b {dims = array<i64: 0, 1>} : (tensor<2x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}

// -----

// C5
func.func @sine_of_another_length(%a: tensor<6x8xf32>, %b: tensor<6x4xf32>, %c: tensor<5x4xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{'ds.rotary_embedding' op sine must have shape [6, 4], got [5, 4]}}
  %0 = ds.rotary_embedding %a, %b, %c : (tensor<6x8xf32>, tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// C6
func.func @sine_of_another_type(%a: tensor<8x4xf32>, %c: tensor<8x2xf32>, %s: tensor<8x2xf64>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.rotary_embedding' op requires the same element type for all operands and results}}
  %0 = ds.rotary_embedding %a, %c, %s : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x2xf64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C4
func.func @positions_are_the_halves(%x: tensor<2x6x4x8xf32>, %c: tensor<6x4xf32>) -> tensor<2x6x4x8xf32> {
  // expected-error @below {{'ds.rotary_embedding' op dims must be ascending and in [0, 3), got 3 after -1}}
  %0 = ds.rotary_embedding %x, %c, %c {dims = array<i64: 3>} : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
  return %0 : tensor<2x6x4x8xf32>
}
