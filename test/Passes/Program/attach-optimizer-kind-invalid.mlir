// RUN: ds-opt %s --verify-diagnostics --pass-pipeline='builtin.module(ds-attach-optimizer{kind=lion})'

// expected-error @below {{optimizer must be adam, adamw or sgd, got "lion"}}
func.func @step(%l: tensor<f32> {ds.name = "l"}) -> (tensor<f32> {ds.name = "loss"}) {
  return %l : tensor<f32>
}
