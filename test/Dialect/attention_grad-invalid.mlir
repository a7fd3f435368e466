// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// C3
func.func @gradient_of_another_type(%q: tensor<2x4x8x16xf32>, %g: tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf32> {
  // expected-error @below {{'ds.attention_grad' op requires the same element type for all operands and results}}
  %0:3 = ds.attention_grad %q, %q, %q, %g {scale = 0.25 : f64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf64>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return %0#0 : tensor<2x4x8x16xf32>
}

// -----

ds.mesh @mesh <tp = 2>
// C4
func.func @split_groups_would_leave_partial_sums(%a: tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>, %b: tensor<2x1x5x8xf32>) {
  // expected-error @below {{a dim that the op needs whole must not be split, got axis "tp"}}
  %0:3 = ds.attention_grad %a, %b, %b, %a {scale = 0.5 : f64} : (tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>, tensor<2x1x5x8xf32>, tensor<2x1x5x8xf32>, tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>)
      -> (tensor<2x4x6x8xf32, #ds.layout<[{}, {tp}, {}, {}]>>, tensor<2x1x5x8xf32>, tensor<2x1x5x8xf32>)
  return
}

// -----

// C1
func.func @gradient_of_the_width_of_the_query(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x5x3xf32>) -> tensor<2x4x6x8xf32> {
  // expected-error @below {{'ds.attention_grad' op gradient must have shape [2, 4, 6, 3], got [2, 4, 6, 8]}}
  %0:3 = ds.attention_grad %a, %b, %c, %a {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>)
  return %0#0 : tensor<2x4x6x8xf32>
}

// -----

// C2
func.func @gradient_of_a_shorter_key(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x5x3xf32>, %d: tensor<2x4x6x3xf32>) -> tensor<2x2x4x8xf32> {
  // expected-error @below {{'ds.attention_grad' op gradient of the key must have shape [2, 2, 5, 8], got [2, 2, 4, 8]}}
  %0:3 = ds.attention_grad %a, %b, %c, %d {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x5x3xf32>)
  return %0#1 : tensor<2x2x4x8xf32>
}
