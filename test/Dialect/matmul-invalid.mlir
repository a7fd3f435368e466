// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @too_few_letters(%a: tensor<3x8xf32>, %b: tensor<8x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.matmul' op indices of the right operand must have 2 entries, got 1}}
  %0 = ds.matmul %a, %b {indices = "ik,k->ij"} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C1
func.func @letter_twice_in_one_tensor(%a: tensor<8x8xf32>, %b: tensor<8x5xf32>) -> tensor<8x5xf32> {
  // expected-error @below {{'ds.matmul' op indices must be letters, each once per tensor}}
  %0 = ds.matmul %a, %b {indices = "kk,kj->kj"} : (tensor<8x8xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

// C1
func.func @no_letter(%a: tensor<3x8xf32>, %b: tensor<8x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.matmul' op indices must be letters, each once per tensor}}
  %0 = ds.matmul %a, %b {indices = "i1,1j->ij"} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C2
func.func @index_of_two_sizes(%a: tensor<3x8xf32>, %b: tensor<7x5xf32>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.matmul' op index 'k' must have one size, got 8 and 7}}
  %0 = ds.matmul %a, %b {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C3
func.func @index_of_one_tensor(%a: tensor<3x8xf32>, %b: tensor<8x5xf32>) -> tensor<3x5x2xf32> {
  // expected-error @below {{'ds.matmul' op index 'l' must be in two tensors at least}}
  %0 = ds.matmul %a, %b {indices = "ik,kj->ijl"} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5x2xf32>
  return %0 : tensor<3x5x2xf32>
}

// -----

// C4
func.func @operands_of_two_types(%a: tensor<3x8xf32>, %b: tensor<8x5xf64>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.matmul' op requires the same element type for all operands and results}}
  %0 = ds.matmul %a, %b {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x5xf64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// C4
func.func @result_of_another_type(%a: tensor<3x8xbf16>, %b: tensor<8x5xbf16>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.matmul' op requires the same element type for all operands and results}}
  %0 = ds.matmul %a, %b {indices = "ik,kj->ij"} : (tensor<3x8xbf16>, tensor<8x5xbf16>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
