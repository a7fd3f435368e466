// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-attach-loss{logits=logits shift})'

// expected-error @below {{has no output "logits" for the loss, got "loss"}}
func.func @forward(%x: tensor<f32> {ds.name = "x"}) -> (tensor<f32> {ds.name = "loss"}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{logits "logits" must be floats with 3 dims or more, got 'tensor<2x3xf32>'}}
func.func @forward(%x: tensor<2x3xf32> {ds.name = "x"}) -> (tensor<2x3xf32> {ds.name = "logits"}) {
  return %x : tensor<2x3xf32>
}

// -----

// expected-error @below {{labels "labels" must be integers of the shape of 'tensor<2x3xi64>', got 'tensor<2xi64>'}}
func.func @forward(%x: tensor<2x3x4xf32> {ds.name = "x"}, %l: tensor<2xi64> {ds.name = "labels"}) -> (tensor<2x3x4xf32> {ds.name = "logits"}) {
  return %x : tensor<2x3x4xf32>
}
