// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @parts_that_do_not_divide(%x: tensor<8xf32>, %i: index) -> tensor<2xf32> {
  // expected-error @below {{'ds.take_part' op parts must divide dim 0, got 3}}
  %0 = ds.take_part %x[%i] {parts = 3} : tensor<8xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// C1
func.func @scalar(%x: tensor<f32>, %i: index) -> tensor<f32> {
  // expected-error @below {{'ds.take_part' op parts must divide dim 0, got 1}}
  %0 = ds.take_part %x[%i] {parts = 1} : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// C2
func.func @part_of_another_size(%x: tensor<8xf32>, %i: index) -> tensor<3xf32> {
  // expected-error @below {{'ds.take_part' op result must have shape [2], got [3]}}
  %0 = ds.take_part %x[%i] {parts = 4} : tensor<8xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// C3
func.func @result_of_another_type(%a: tensor<8x4xi64>, %i: index) -> tensor<4x4xi32> {
  // expected-error @below {{'ds.take_part' op failed to verify that all of {input, result} have same element type}}
  %0 = ds.take_part %a[%i] {parts = 2} : tensor<8x4xi64> -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
