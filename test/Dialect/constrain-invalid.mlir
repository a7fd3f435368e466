// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @layout_of_another_rank(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{'ds.constrain' op a layout must have one entry per dim, got 1 entries for 2 dims}}
  %0 = ds.constrain %x to <[{dp}]> : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

// C2
func.func @factors_of_another_size(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{'ds.constrain' op the factors of dim 1 must multiply to 64, got 63}}
  %0 = ds.constrain %x to <[{}, (3)(21{dp})]> : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
