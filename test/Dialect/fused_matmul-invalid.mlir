// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// C1
func.func @bias_runs_over_no_index(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<8x6xf32> {
  // expected-error @below {{bias must run over indices of the result, got 'k'}}
  %0 = ds.fused_matmul %x, %w, %b {indices = "mk,kn->mn", bias_indices = "k", operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

ds.mesh @mesh <dp = 2>
// C2
func.func @bias_would_be_added_on_every_rank(%x: tensor<8x4xf32, #ds.layout<[{}, {dp}]>>, %w: tensor<4x6xf32, #ds.layout<[{dp}, {}]>>, %b: tensor<6xf32>)
    -> tensor<8x6xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // expected-error @below {{result must be whole, got partial over {dp}}}
  %0 = ds.fused_matmul %x, %w, %b {indices = "mk,kn->mn", bias_indices = "n", operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<8x4xf32, #ds.layout<[{}, {dp}]>>, tensor<4x6xf32, #ds.layout<[{dp}, {}]>>, tensor<6xf32>)
      -> tensor<8x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<8x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2>
// C3
func.func @addend_is_whole(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, %g: tensor<8x6xf32, #ds.layout<[{dp}, {}]>>, %sum: tensor<4x6xf32>)
    -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // expected-error @below {{addend must have the result's type}}
  %0 = ds.fused_matmul %x, %g, %sum {indices = "mk,mn->kn", operandSegmentSizes = array<i32: 1, 1, 0, 1>}
      : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>, tensor<8x6xf32, #ds.layout<[{dp}, {}]>>, tensor<4x6xf32>)
      -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
}

// -----

// C4
func.func @bias_of_another_type(%a: tensor<3x8xf32>, %b: tensor<8x5xf32>, %c: tensor<5xf64>) -> tensor<3x5xf32> {
  // expected-error @below {{'ds.fused_matmul' op requires the same element type for all operands and results}}
  %0 = ds.fused_matmul %a, %b, %c {bias_indices = "j", indices = "ik,kj->ij", operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<3x8xf32>, tensor<8x5xf32>, tensor<5xf64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

ds.mesh @mesh <dp = 2>
// C2
func.func @a_summand_would_be_activated(%x: tensor<8x4xf32, #ds.layout<[{}, {dp}]>>, %w: tensor<4x6xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x6xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // expected-error @below {{result must be whole, got partial over {dp}}}
  %0 = ds.fused_matmul %x, %w {indices = "mk,kn->mn", activation = #ds.activation<relu>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<8x4xf32, #ds.layout<[{}, {dp}]>>, tensor<4x6xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<8x6xf32, #ds.layout<[{}, {}], partial = {dp}>>
}
