// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

func.func @gradient_of_another_type(%q: tensor<2x4x8x16xf32>, %g: tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf32> {
  // expected-error @below {{'ds.attention_grad' op requires the same element type for all operands and results}}
  %0:3 = ds.attention_grad %q, %q, %q, %g {scale = 0.25 : f64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf64>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return %0#0 : tensor<2x4x8x16xf32>
}

// -----

ds.mesh @mesh <tp = 2>
func.func @split_groups_would_leave_partial_sums(%a: tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>, %b: tensor<2x1x5x8xf32>) {
  // expected-error @below {{a dim that the op needs whole must not be split, got axis "tp"}}
  %0:3 = ds.attention_grad %a, %b, %b, %a {scale = 0.5 : f64} : (tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>, tensor<2x1x5x8xf32>, tensor<2x1x5x8xf32>, tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>)
      -> (tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>, tensor<2x1x5x8xf32>, tensor<2x1x5x8xf32>)
  return
}
