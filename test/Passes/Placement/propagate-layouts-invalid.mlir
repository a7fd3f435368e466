// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-propagate-layouts

// Hints are layouts of their tensors on the mesh.
ds.mesh @mesh <dp = 2>
// expected-error @below {{'ds.variable' op refers to unknown axis "tp", got the hint [[{tp}, {}]] for 'tensor<8x4xf32>'}}
ds.variable @w {role = #ds.role<parameter>, layout = #ds.layout<[{tp}, {}]>} : tensor<8x4xf32>

// -----

ds.mesh @mesh <dp = 2>
func.func @unknown_axis_of_a_constraint(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.constrain' op refers to unknown axis "tp", got the hint}}
  %0 = ds.constrain %x to <[{dp}, {tp}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

ds.mesh @mesh <dp = 2>
func.func @one_axis_on_two_dims(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.constrain' op axis "dp" must be used at most once, got it twice, got the hint}}
  %0 = ds.constrain %x to <[{dp}, {dp}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

ds.mesh @mesh <dp = 2>
// expected-error @below {{argument 1: layout must have 2 dims, got 1}}
func.func @layout_of_an_argument_of_another_rank(%x: tensor<8xf32>, %y: tensor<8x4xf32> {ds.layout = #ds.layout<[{dp}]>}) {
  return
}
