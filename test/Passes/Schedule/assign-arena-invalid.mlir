// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-assign-arena{memory-budget=8192})'

// expected-error @below {{has no function @step}}
module {
}

// -----

// expected-note @below {{live there: argument, 8192 bytes}}
// expected-note @below {{live there: argument, 4096 bytes}}
// expected-error @below {{the plan needs 12288 bytes of device memory, 4096 bytes more than the budget of 8192; the peak is at return}}
func.func @step(%x: tensor<2048xf32> {ds.name = "x"}, %y: tensor<1024xf32> {ds.name = "y"}) -> (tensor<2048xf32>, tensor<1024xf32>) {
  return %x, %y : tensor<2048xf32>, tensor<1024xf32>
}
