// RUN: ds-opt %s --verify-diagnostics --pass-pipeline='builtin.module(ds-clip-gradients{max-norm=-1})'

// expected-error @below {{max-norm must be >= 0, got -1}}
func.func @step(%x: tensor<f32> {ds.name = "x"}) -> (tensor<f32> {ds.name = "loss"}) {
  return %x : tensor<f32>
}
