// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @one_dim_too_few(%a: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  // expected-error @below {{'ds.broadcast' op dims must have 2 entries, got 1}}
  %0 = ds.broadcast %a {dims = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// -----

// C1
func.func @dims_out_of_order(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'ds.broadcast' op dims must be ascending and in [0, 2), got 0 after 1}}
  %0 = ds.broadcast %a {dims = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// C2
func.func @size_that_changes(%a: tensor<4xf32>) -> tensor<8x5xf32> {
  // expected-error @below {{'ds.broadcast' op input must have shape [5], got [4]}}
  %0 = ds.broadcast %a {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<4xf32>) -> tensor<8x4xbf16> {
  // expected-error @below {{'ds.broadcast' op requires the same element type for all operands and results}}
  %0 = ds.broadcast %a {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}
