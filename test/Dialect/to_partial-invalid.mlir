// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @input_that_is_split(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // expected-error @below {{'ds.to_partial' op input must be whole over "dp", got}}
  %0 = ds.to_partial %x over "dp" : tensor<8x4xf32, #ds.layout<[{dp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
}

// -----

// C1
func.func @input_that_is_partial(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // expected-error @below {{'ds.to_partial' op input must be whole over "dp", got}}
  %0 = ds.to_partial %x over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
}

// -----

// C2
func.func @result_that_is_whole(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.to_partial' op result must be partial over "dp", got}}
  %0 = ds.to_partial %x over "dp" : tensor<8x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// C3
func.func @another_shape(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ds.to_partial' op requires the same shape for all operands and results}}
  %0 = ds.to_partial %x over "dp" : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C3
func.func @another_element_type(%x: tensor<8xf32>) -> tensor<8xf64> {
  // expected-error @below {{'ds.to_partial' op requires the same element type for all operands and results}}
  %0 = ds.to_partial %x over "dp" : tensor<8xf32> -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
