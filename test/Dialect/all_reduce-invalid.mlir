// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @axis_is_not_partial(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.all_reduce' op input must be partial over "dp", got}}
  %0 = ds.all_reduce %x over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C2
func.func @result_that_is_partial(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // expected-error @below {{'ds.all_reduce' op result must be whole over "dp", got}}
  %0 = ds.all_reduce %x over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
}

// -----

// C3
func.func @another_shape(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ds.all_reduce' op requires the same shape for all operands and results}}
  %0 = ds.all_reduce %x over "dp" : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C3
func.func @another_element_type(%x: tensor<8xf32>) -> tensor<8xf64> {
  // expected-error @below {{'ds.all_reduce' op requires the same element type for all operands and results}}
  %0 = ds.all_reduce %x over "dp" : tensor<8xf32> -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
