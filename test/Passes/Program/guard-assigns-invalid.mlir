// RUN: ds-opt %s --verify-diagnostics --pass-pipeline='builtin.module(ds-guard-assigns)'

// expected-error @below {{must have a scalar result "grad_norm" to guard its assigns with}}
func.func @step(%l: tensor<f32> {ds.name = "l"}) -> (tensor<f32> {ds.name = "loss"}) {
  return %l : tensor<f32>
}
