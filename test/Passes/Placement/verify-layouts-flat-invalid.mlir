// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// On flat: elementwise with identical types or scalars, and full reductions.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @flat_operands_that_differ(%x: tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, %y: tensor<8xf32, #ds.layout<[{}], flat = {tp}>>)
    -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {
  // expected-error @below {{'ds.scale' op flat operands and results must have one layout, got [[{}], flat = {dp}] and [[{}], flat = {tp}]}}
  %0 = ds.scale %x by %y : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {tp}>> -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @flat_and_whole(%p: tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, %g: tensor<8xf32>, %r: tensor<f32>) -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {
  // expected-error @below {{'ds.adam_update' op flat operands and results must have one layout, got [[{}], flat = {dp}] and [[{}]]}}
  %0:3 = ds.adam_update %p, %g, %p, %p, %r, %r {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-8 : f64, decay = 0.0 : f64}
      : (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<f32>, tensor<f32>)
      -> (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>)
  return %0#0 : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @update_with_a_gradient_that_is_not_reduced(%p: tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, %g: tensor<8xf32, #ds.layout<[{}], partial = {tp}, flat = {dp}>>, %r: tensor<f32>)
    -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {
  // expected-error @below {{'ds.sgd_update' op operand 1 must not be partial, got partial over "tp"}}
  %0:2 = ds.sgd_update %p, %g, %p, %r, %r {momentum = 0.9 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], partial = {tp}, flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<f32>, tensor<f32>)
      -> (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>)
  return %0#0 : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @matmul_of_a_flat_weight(%x: tensor<4x8xf32>, %w: tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<4x6xf32> {
  // expected-error @below {{'ds.matmul' op must have no flat operand or result}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32>, tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @transpose_of_flat(%w: tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<6x8xf32, #ds.layout<[{}, {}], flat = {dp}>> {
  // expected-error @below {{'ds.transpose' op must have no flat operand or result}}
  %0 = ds.transpose %w {permutation = array<i64: 1, 0>} : (tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<6x8xf32, #ds.layout<[{}, {}], flat = {dp}>>
  return %0 : tensor<6x8xf32, #ds.layout<[{}, {}], flat = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @sum_of_one_dim_of_flat(%w: tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {dp}>> {
  // expected-error @below {{'ds.reduce' op must have no flat operand or result}}
  %0 = ds.reduce %w {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @norm_of_shards_that_is_not_partial(%w: tensor<8x6xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> tensor<f32, #ds.layout<[], partial = {dp}>> {
  // expected-error @below {{'ds.reduce' op result must be partial over {dp, tp}, got {dp}}}
  %0 = ds.reduce %w {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<8x6xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> tensor<f32, #ds.layout<[], partial = {dp}>>
  return %0 : tensor<f32, #ds.layout<[], partial = {dp}>>
}

// -----

// A value that is the same on every rank is not summed over them.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @norm_that_counts_replicas(%w: tensor<8xf32, #ds.layout<[{}], flat = {dp}>>) -> tensor<f32, #ds.layout<[], partial = {dp, tp}>> {
  // expected-error @below {{'ds.reduce' op result must be partial over {dp}, got {dp, tp}}}
  %0 = ds.reduce %w {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>) -> tensor<f32, #ds.layout<[], partial = {dp, tp}>>
  return %0 : tensor<f32, #ds.layout<[], partial = {dp, tp}>>
}

// -----

// Operands have one memory tier and one place.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @device_and_host(%x: tensor<8xf32>, %y: tensor<8xf32, #ds.layout<[{}], memory = host>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.scale' op operands and results must have one memory tier and one place}}
  %0 = ds.scale %x by %y : tensor<8xf32>, tensor<8xf32, #ds.layout<[{}], memory = host>> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @two_pipeline_stages(%x: tensor<8xf32, #ds.layout<[{}], at = {tp = 0}>>, %y: tensor<8xf32, #ds.layout<[{}], at = {tp = 1}>>) -> tensor<8xf32, #ds.layout<[{}], at = {tp = 0}>> {
  // expected-error @below {{'ds.scale' op operands and results must have one memory tier and one place}}
  %0 = ds.scale %x by %y : tensor<8xf32, #ds.layout<[{}], at = {tp = 0}>>, tensor<8xf32, #ds.layout<[{}], at = {tp = 1}>> -> tensor<8xf32, #ds.layout<[{}], at = {tp = 0}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], at = {tp = 0}>>
}
