// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-attach-loss)'

// expected-error @below {{has no function @forward}}
module {
}

// -----

// expected-error @below {{has no output "loss" for the loss, got "logits", "hidden"}}
func.func @forward(%x: tensor<2x3xf32> {ds.name = "x"}) -> (tensor<2x3xf32> {ds.name = "logits"}, tensor<2x3xf32> {ds.name = "hidden"}) {
  return %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// expected-error @below {{output "loss" must be one float to be a loss, got 'tensor<2xf32>'}}
func.func @forward(%x: tensor<2xf32> {ds.name = "x"}) -> (tensor<2xf32> {ds.name = "loss"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{output "loss" must be one float to be a loss, got 'tensor<i64>'}}
func.func @forward(%x: tensor<i64> {ds.name = "x"}) -> (tensor<i64> {ds.name = "loss"}) {
  return %x : tensor<i64>
}
