// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// Along a dim: softmax, norms, top_k, element-wise indexing need it whole.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @softmax_along_a_split_dim(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x8xf32, #ds.layout<[{}, {tp}]>> {
  // expected-error @below {{'ds.softmax' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.softmax %x {dim = 1 : i64} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x8xf32, #ds.layout<[{}, {tp}]>>
  return %0 : tensor<4x8xf32, #ds.layout<[{}, {tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @norm_along_a_split_dim(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, %g: tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<4x8xf32, #ds.layout<[{}, {tp}]>> {
  // expected-error @below {{'ds.layer_norm' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.layer_norm %x, %g {epsilon = 1.0e-05 : f64} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<4x8xf32, #ds.layout<[{}, {tp}]>>
  return %0 : tensor<4x8xf32, #ds.layout<[{}, {tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @top_k_along_a_split_dim(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x2xf32> {
  // expected-error @below {{'ds.top_k' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0:2 = ds.top_k %x {dim = 1 : i64} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  return %0#0 : tensor<4x2xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @loss_over_split_classes(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, %l: tensor<4xi64>) -> tensor<4xf32> {
  // expected-error @below {{'ds.cross_entropy' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.cross_entropy %x, %l {ignore_index = -100 : i64} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @scatter_along_a_split_dim(%i: tensor<4x8xi64, #ds.layout<[{}, {tp}]>>, %u: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x9xf32> {
  // expected-error @below {{'ds.scatter_elements' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.scatter_elements %i, %u {dim = 1 : i64} : (tensor<4x8xi64, #ds.layout<[{}, {tp}]>>, tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @attention_with_a_split_sequence(%q: tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>) -> tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>> {
  // expected-error @below {{'ds.attention' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>, tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>,
      tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>) -> tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>
  return %0 : tensor<2x4x6x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @convolution_of_a_split_image(%x: tensor<2x3x8xf32, #ds.layout<[{}, {}, {tp}]>>, %w: tensor<4x3x3xf32>) -> tensor<2x4x8xf32, #ds.layout<[{}, {}, {tp}]>> {
  // expected-error @below {{'ds.convolution' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.convolution %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
      : (tensor<2x3x8xf32, #ds.layout<[{}, {}, {tp}]>>, tensor<4x3x3xf32>) -> tensor<2x4x8xf32, #ds.layout<[{}, {}, {tp}]>>
  return %0 : tensor<2x4x8xf32, #ds.layout<[{}, {}, {tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @constant_with_different_elements_that_is_split() -> tensor<4xf32, #ds.layout<[{tp}]>> {
  // expected-error @below {{'arith.constant' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32, #ds.layout<[{tp}]>>
  return %0 : tensor<4xf32, #ds.layout<[{tp}]>>
}

// -----

// Dims that share an index are split alike.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @transpose_that_forgets_the_axis(%x: tensor<4x8xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {
  // expected-error @below {{'ds.transpose' op result 0 dim 0 must be split as [{}] like the values that share its index, got [{dp}]}}
  %0 = ds.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @contracted_index_split_on_one_side(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, %w: tensor<8x6xf32>) -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>> {
  // expected-error @below {{'ds.matmul' op operand 1 dim 0 must be split as [{tp}] like the values that share its index, got [{}]}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, tensor<8x6xf32>) -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @contracted_index_with_other_factors(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, %w: tensor<8x6xf32, #ds.layout<[(2)(4{tp}), {}]>>)
    -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>> {
  // expected-error @below {{'ds.matmul' op operand 1 dim 0 must be split as [{tp}] like the values that share its index, got [(2)(4{tp})]}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, tensor<8x6xf32, #ds.layout<[(2)(4{tp}), {}]>>)
      -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @axes_in_another_order(%x: tensor<8xf32, #ds.layout<[{dp, tp}]>>, %s: tensor<8xf32, #ds.layout<[{tp, dp}]>>) -> tensor<8xf32, #ds.layout<[{dp, tp}]>> {
  // expected-error @below {{'ds.scale' op operand 1 dim 0 must be split as [{dp, tp}] like the values that share its index, got [{tp, dp}]}}
  %0 = ds.scale %x by %s : tensor<8xf32, #ds.layout<[{dp, tp}]>>, tensor<8xf32, #ds.layout<[{tp, dp}]>> -> tensor<8xf32, #ds.layout<[{dp, tp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{dp, tp}]>>
}

// -----

// Reshape: factor lists are equal.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @reshape_that_joins_behind_a_split_minor_dim(%x: tensor<4x6xf32, #ds.layout<[{}, {tp}]>>) -> tensor<24xf32, #ds.layout<[{tp}]>> {
  // expected-error @below {{'ds.reshape' op result 0 dim 0 must be split as}}
  %0 = ds.reshape %x : (tensor<4x6xf32, #ds.layout<[{}, {tp}]>>) -> tensor<24xf32, #ds.layout<[{tp}]>>
  return %0 : tensor<24xf32, #ds.layout<[{tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 3>
func.func @reshape_that_cuts_inside_a_head(%x: tensor<12xf32, #ds.layout<[{tp}]>>) -> tensor<4x3xf32, #ds.layout<[{tp}, {}]>> {
  // expected-error @below {{'ds.reshape' op operand 0 must be split at the op's indices, got [[{tp}]]}}
  %0 = ds.reshape %x : (tensor<12xf32, #ds.layout<[{tp}]>>) -> tensor<4x3xf32, #ds.layout<[{tp}, {}]>>
  return %0 : tensor<4x3xf32, #ds.layout<[{tp}, {}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @slice_of_a_split_dim(%x: tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<3xf32, #ds.layout<[{tp}]>> {
  // expected-error @below {{'ds.slice' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.slice %x {offsets = array<i64: 1>, strides = array<i64: 1>} : (tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<3xf32, #ds.layout<[{tp}]>>
  return %0 : tensor<3xf32, #ds.layout<[{tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @strided_slice_of_a_split_dim(%x: tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<4xf32, #ds.layout<[{tp}]>> {
  // expected-error @below {{'ds.slice' op a dim that the op needs whole must not be split, got axis "tp"}}
  %0 = ds.slice %x {offsets = array<i64: 0>, strides = array<i64: 2>} : (tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<4xf32, #ds.layout<[{tp}]>>
  return %0 : tensor<4xf32, #ds.layout<[{tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @concatenation_along_a_split_dim(%x: tensor<4xf32, #ds.layout<[{tp}]>>) -> tensor<8xf32, #ds.layout<[{tp}]>> {
  // expected-error @below {{'ds.concat' op}}
  %0 = ds.concat %x, %x {dim = 0 : i64} : (tensor<4xf32, #ds.layout<[{tp}]>>, tensor<4xf32, #ds.layout<[{tp}]>>) -> tensor<8xf32, #ds.layout<[{tp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @part_of_a_batch_that_is_not_cut_in_sample_order(%x: tensor<8xf32, #ds.layout<[{dp}]>>, %i: index) -> tensor<4xf32, #ds.layout<[{dp}]>> {
  // expected-error @below {{'ds.take_part' op}}
  %0 = ds.take_part %x[%i] {parts = 2} : tensor<8xf32, #ds.layout<[{dp}]>> -> tensor<4xf32, #ds.layout<[{dp}]>>
  return %0 : tensor<4xf32, #ds.layout<[{dp}]>>
}
