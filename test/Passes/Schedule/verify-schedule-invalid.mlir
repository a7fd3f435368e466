// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-schedule

func.func @collective_that_blocks(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp}>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.all_reduce' op must be a ds.start and a ds.wait}}
  %0 = ds.all_reduce %x over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @relayout_that_is_left(%x: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  // expected-error @below {{'ds.relayout' op must be a ds.start and a ds.wait}}
  %0 = ds.relayout %x : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{dp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{dp}]>>
}

// -----

func.func @elementwise_outside_of_a_kernel(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'math.exp' op must be inside a ds.kernel}}
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @start_without_a_wait(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp}>>) {
  // expected-error @below {{'ds.start' op must have exactly one wait}}
  %t = ds.start all_reduce %x over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> [tensor<8xf32>]
  return
}

// -----

func.func @wait_in_another_block(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp}>>, %n: index) {
  // expected-error @below {{'ds.start' op must have its wait in the same block}}
  %t = ds.start all_reduce %x over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> [tensor<8xf32>]
  scf.for %i = %n to %n step %n {
    %w = ds.wait %t, %x : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> tensor<8xf32>
  }
  return
}
