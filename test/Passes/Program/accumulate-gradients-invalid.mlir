// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-accumulate-gradients{parts=0})'

// expected-error @below {{parts must be >= 1, got 0}}
func.func @step(%x: tensor<f32> {ds.name = "x"}) -> (tensor<f32> {ds.name = "loss"}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{has no function @step}}
module {
}
