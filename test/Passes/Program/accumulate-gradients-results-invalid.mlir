// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-accumulate-gradients{parts=2})'

// expected-error @below {{results must be floats, so that their mean over the parts exists, got 'tensor<i64>'}}
func.func @step(%x: tensor<i64> {ds.name = "x"}) -> (tensor<i64> {ds.name = "count"}) {
  return %x : tensor<i64>
}
