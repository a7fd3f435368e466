// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-schedule

// Ranks must meet in the same collectives in the same order.

!sum = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
func.func @collective_under_a_condition(%x: !sum, %some: i1) {
  scf.if %some {
    // expected-error @below {{'ds.start' op must not stand under a condition of one rank, got scf.if}}
    %t = ds.start all_reduce %x over "dp" : !sum -> [tensor<8xf32>]
    %w = ds.wait %t, %x : !sum -> tensor<8xf32>
  }
  return
}

// -----

!sum = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
func.func @collective_in_a_loop_with_a_condition(%x: !sum, %some: i1) {
  scf.while : () -> () {
    scf.condition(%some)
  } do {
    // expected-error @below {{'ds.start' op must not stand under a condition of one rank, got scf.while}}
    %t = ds.start all_reduce %x over "dp" : !sum -> [tensor<8xf32>]
    %w = ds.wait %t, %x : !sum -> tensor<8xf32>
    scf.yield
  }
  return
}

// -----

func.func @remap_under_a_condition(%x: tensor<8xf32, #ds.layout<[{dp}]>>, %some: i1) {
  scf.if %some {
    // expected-error @below {{'ds.remap' op must not stand under a condition of one rank, got scf.if}}
    %0 = ds.remap %x : tensor<8xf32, #ds.layout<[{dp}]>> -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  }
  return
}

// -----

!sum = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
func.func @collective_in_a_loop_of_unknown_length(%x: !sum, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op must have a constant number of iterations, as it holds ds.start}}
  scf.for %i = %c0 to %n step %c1 {
    %t = ds.start all_reduce %x over "dp" : !sum -> [tensor<8xf32>]
    %w = ds.wait %t, %x : !sum -> tensor<8xf32>
  }
  return
}
