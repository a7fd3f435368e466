// RUN: ds-opt %s --split-input-file --verify-diagnostics

!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
// C1
func.func @two_waits(%x: !partial) {
  %t = ds.start all_reduce %x over "dp" : !partial -> [tensor<8xf32>]
  // expected-error @below {{'ds.wait' op must be the only use of its token}}
  %a = ds.wait %t, %x : !partial -> tensor<8xf32>
  %b = ds.wait %t, %x : !partial -> tensor<8xf32>
  return
}

// -----

!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
// C2
func.func @token_of_nobody(%t: !ds.token, %x: !partial) {
  // expected-error @below {{'ds.wait' op must wait for the token of a start}}
  %a = ds.wait %t, %x : !partial -> tensor<8xf32>
  return
}

// -----

!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
// C3
func.func @other_inputs(%x: !partial, %y: !partial) {
  %t = ds.start all_reduce %x over "dp" : !partial -> [tensor<8xf32>]
  // expected-error @below {{'ds.wait' op must take the inputs of its start}}
  %a = ds.wait %t, %y : !partial -> tensor<8xf32>
  return
}

// -----

!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
// C4
func.func @other_results(%x: !partial) {
  %t = ds.start all_reduce %x over "dp" : !partial -> [tensor<8xf32>]
  // expected-error @below {{'ds.wait' op must give the result types of its start}}
  %a = ds.wait %t, %x : !partial -> tensor<8xf32, #ds.layout<[{dp}]>>
  return
}
