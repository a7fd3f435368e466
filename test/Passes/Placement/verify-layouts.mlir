// RUN: ds-opt %s --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --ds-verify-layouts --verify-roundtrip -o /dev/null

// The right twins of verify-layouts*-invalid.mlir: nothing is refused, and nothing changes.
ds.mesh @mesh <dp = 2, tp = 2, pp = 2>

// CHECK: ds.variable @w
ds.variable @w {role = #ds.role<parameter>} : tensor<8x6xf32, #ds.layout<[{tp}, {}], flat = {dp}>>

// CHECK-LABEL: func.func @reduced_before_it_meets_exp
func.func @reduced_before_it_meets_exp(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32> {
  // CHECK: ds.all_reduce
  %0 = ds.all_reduce %x over "tp" : tensor<8xf32, #ds.layout<[{}], partial = {tp}>> -> tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @linear_ops_pass_a_partial
func.func @linear_ops_pass_a_partial(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, %s: tensor<4x8xf32>, %c: tensor<4x8xi1>)
    -> tensor<8xf64, #ds.layout<[{}], partial = {tp}>> {
  // CHECK: ds.scale
  %0 = ds.scale %x by %s : tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<4x8xf32> -> tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %1 = ds.divide %0 by %s : tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<4x8xf32> -> tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %2 = ds.where %c, %0, %1 : tensor<4x8xi1>, tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
      -> tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %3 = arith.addf %2, %x : tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %4 = arith.negf %3 : tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %5 = ds.reduce %4 {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  // CHECK: arith.extf
  %6 = arith.extf %5 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>> to tensor<8xf64, #ds.layout<[{}], partial = {tp}>>
  return %6 : tensor<8xf64, #ds.layout<[{}], partial = {tp}>>
}

// CHECK-LABEL: func.func @a_whole_bias_becomes_partial_first
func.func @a_whole_bias_becomes_partial_first(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>, %b: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // CHECK: ds.to_partial
  %0 = ds.to_partial %b over "tp" : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  %1 = arith.addf %x, %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %1 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// CHECK-LABEL: func.func @zero_has_every_layout
func.func @zero_has_every_layout() -> (tensor<8xf32, #ds.layout<[{}], partial = {tp}>>, tensor<8xf32, #ds.layout<[{tp}], flat = {dp}>>) {
  // CHECK: dense<0.0
  %0 = arith.constant dense<0.0> : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  %1 = arith.constant dense<0.0> : tensor<8xf32, #ds.layout<[{tp}], flat = {dp}>>
  return %0, %1 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>, tensor<8xf32, #ds.layout<[{tp}], flat = {dp}>>
}

// CHECK-LABEL: func.func @a_contracted_split_index_makes_a_partial
func.func @a_contracted_split_index_makes_a_partial(%x: tensor<4x8xf32, #ds.layout<[{dp}, {tp}]>>, %w: tensor<8x6xf32, #ds.layout<[{tp}, {}]>>)
    -> tensor<4x6xf32, #ds.layout<[{dp}, {}], partial = {tp}>> {
  // CHECK: ds.matmul
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{dp}, {tp}]>>, tensor<8x6xf32, #ds.layout<[{tp}, {}]>>)
      -> tensor<4x6xf32, #ds.layout<[{dp}, {}], partial = {tp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{dp}, {}], partial = {tp}>>
}

// CHECK-LABEL: func.func @a_partial_operand_and_an_index_on_another_axis
func.func @a_partial_operand_and_an_index_on_another_axis(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {dp}>>, %w: tensor<8x6xf32, #ds.layout<[{}, {tp}]>>)
    -> tensor<4x6xf32, #ds.layout<[{}, {tp}], partial = {dp}>> {
  // CHECK: ds.matmul
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {dp}>>, tensor<8x6xf32, #ds.layout<[{}, {tp}]>>)
      -> tensor<4x6xf32, #ds.layout<[{}, {tp}], partial = {dp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {tp}], partial = {dp}>>
}

// CHECK-LABEL: func.func @a_maximum_passes_maxima
func.func @a_maximum_passes_maxima(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>> {
  // CHECK: arith.maximumf
  %0 = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<max>} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>>
  %1 = arith.maximumf %0, %0 : tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>>
  return %1 : tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>>
}

// CHECK-LABEL: func.func @softmax_along_a_whole_dim
func.func @softmax_along_a_whole_dim(%x: tensor<4x8xf32, #ds.layout<[{tp}, {}]>>) -> tensor<4x8xf32, #ds.layout<[{tp}, {}]>> {
  // CHECK: ds.softmax
  %0 = ds.softmax %x {dim = 1 : i64} : (tensor<4x8xf32, #ds.layout<[{tp}, {}]>>) -> tensor<4x8xf32, #ds.layout<[{tp}, {}]>>
  return %0 : tensor<4x8xf32, #ds.layout<[{tp}, {}]>>
}

// CHECK-LABEL: func.func @reshape_keeps_the_factors
func.func @reshape_keeps_the_factors(%x: tensor<4x6xf32, #ds.layout<[{}, {tp}]>>, %y: tensor<12xf32, #ds.layout<[{tp}]>>)
    -> (tensor<24xf32, #ds.layout<[(4)(6{tp})]>>, tensor<4x3xf32, #ds.layout<[{tp}, {}]>>) {
  // CHECK-COUNT-2: ds.reshape
  %0 = ds.reshape %x : (tensor<4x6xf32, #ds.layout<[{}, {tp}]>>) -> tensor<24xf32, #ds.layout<[(4)(6{tp})]>>
  %1 = ds.reshape %y : (tensor<12xf32, #ds.layout<[{tp}]>>) -> tensor<4x3xf32, #ds.layout<[{tp}, {}]>>
  return %0, %1 : tensor<24xf32, #ds.layout<[(4)(6{tp})]>>, tensor<4x3xf32, #ds.layout<[{tp}, {}]>>
}

// CHECK-LABEL: func.func @a_third_of_a_fused_weight
func.func @a_third_of_a_fused_weight(%x: tensor<4x192xf32, #ds.layout<[{}, (3)(4{tp})(16)]>>) -> tensor<4x64xf32, #ds.layout<[{}, (4{tp})(16)]>> {
  // CHECK: ds.slice
  %0 = ds.slice %x {offsets = array<i64: 0, 64>, strides = array<i64: 1, 1>} : (tensor<4x192xf32, #ds.layout<[{}, (3)(4{tp})(16)]>>) -> tensor<4x64xf32, #ds.layout<[{}, (4{tp})(16)]>>
  return %0 : tensor<4x64xf32, #ds.layout<[{}, (4{tp})(16)]>>
}

// CHECK-LABEL: func.func @parts_in_sample_order
func.func @parts_in_sample_order(%x: tensor<8xf32, #ds.layout<[(2)(4{dp})]>>, %i: index) -> tensor<4xf32, #ds.layout<[{dp}]>> {
  // CHECK: ds.take_part
  %0 = ds.take_part %x[%i] {parts = 2} : tensor<8xf32, #ds.layout<[(2)(4{dp})]>> -> tensor<4xf32, #ds.layout<[{dp}]>>
  return %0 : tensor<4xf32, #ds.layout<[{dp}]>>
}

// CHECK-LABEL: func.func @rows_and_ids_on_different_axes
func.func @rows_and_ids_on_different_axes(%t: tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, %i: tensor<6xi64, #ds.layout<[{dp}]>>)
    -> (tensor<6x4xf32, #ds.layout<[{dp}, {}], partial = {tp}>>, tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>>) {
  // CHECK: ds.gather_rows
  %0 = ds.gather_rows %t, %i : (tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, tensor<6xi64, #ds.layout<[{dp}]>>) -> tensor<6x4xf32, #ds.layout<[{dp}, {}], partial = {tp}>>
  %1 = ds.all_reduce %0 over "tp" : tensor<6x4xf32, #ds.layout<[{dp}, {}], partial = {tp}>> -> tensor<6x4xf32, #ds.layout<[{dp}, {}]>>
  // CHECK: ds.scatter_add_rows
  %2 = ds.scatter_add_rows %i, %1 : (tensor<6xi64, #ds.layout<[{dp}]>>, tensor<6x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>>
  return %0, %2 : tensor<6x4xf32, #ds.layout<[{dp}, {}], partial = {tp}>>, tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>>
}

// CHECK-LABEL: func.func @elementwise_and_full_reduction_on_flat
func.func @elementwise_and_full_reduction_on_flat(%w: tensor<8x6xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> tensor<f32> {
  // CHECK: arith.mulf
  %0 = arith.mulf %w, %w : tensor<8x6xf32, #ds.layout<[{tp}, {}], flat = {dp}>>
  // CHECK: ds.reduce
  %1 = ds.reduce %0 {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<8x6xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> tensor<f32, #ds.layout<[], partial = {dp, tp}>>
  %2 = ds.all_reduce %1 over "dp" : tensor<f32, #ds.layout<[], partial = {dp, tp}>> -> tensor<f32, #ds.layout<[], partial = {tp}>>
  %3 = ds.all_reduce %2 over "tp" : tensor<f32, #ds.layout<[], partial = {tp}>> -> tensor<f32>
  return %3 : tensor<f32>
}

// CHECK-LABEL: func.func @an_update_of_shards_with_whole_scalars
func.func @an_update_of_shards_with_whole_scalars(%p: tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, %r: tensor<f32>) -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {
  // CHECK: ds.sgd_update
  %0:2 = ds.sgd_update %p, %p, %p, %r, %r {momentum = 0.9 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<f32>, tensor<f32>)
      -> (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>)
  return %0#0 : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}

// CHECK-LABEL: func.func @every_cast_does_what_it_says
func.func @every_cast_does_what_it_says(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp, tp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>> {
  // CHECK: ds.reduce_scatter
  %0 = ds.reduce_scatter %x over "tp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp, tp}>> -> tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>>
  // CHECK: ds.all_reduce
  %1 = ds.all_reduce %0 over "dp" : tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{tp}, {}]>>
  // CHECK: ds.take_shard
  %2 = ds.take_shard %1 over "dp" : tensor<8x4xf32, #ds.layout<[{tp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{tp}, {dp}]>>
  // CHECK: ds.all_to_all
  %3 = ds.all_to_all %2 over "tp" : tensor<8x4xf32, #ds.layout<[{tp}, {dp}]>> -> tensor<8x4xf32, #ds.layout<[{}, {dp, tp}]>>
  // CHECK: ds.all_gather
  %4 = ds.all_gather %3 over "tp" : tensor<8x4xf32, #ds.layout<[{}, {dp, tp}]>> -> tensor<8x4xf32, #ds.layout<[{}, {dp}]>>
  // CHECK: ds.remap
  %5 = ds.remap %4 : tensor<8x4xf32, #ds.layout<[{}, {dp}]>> -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>
  %6 = ds.all_gather %5 over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>> -> tensor<8x4xf32>
  // CHECK: ds.copy
  %7 = ds.copy %6 : tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>>
  return %7 : tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>>
}

// CHECK-LABEL: func.func @a_transfer_moves_to_another_stage
func.func @a_transfer_moves_to_another_stage(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}, at = {pp = 0}>>)
    -> tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}, at = {pp = 1}>> {
  // CHECK: ds.transfer
  %0 = ds.transfer %x : tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}, at = {pp = 0}>> -> tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}, at = {pp = 1}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}, at = {pp = 1}>>
}
