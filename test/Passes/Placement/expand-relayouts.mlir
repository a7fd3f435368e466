// RUN: ds-opt %s --ds-expand-relayouts --ds-verify-layouts | FileCheck %s

ds.mesh @mesh <dp = 4, tp = 2>

// CHECK-LABEL: func.func @reduces_and_scatters_at_once
// CHECK-SAME:  (%[[G:.*]]: tensor
func.func @reduces_and_scatters_at_once(%g: tensor<8xf32, #ds.layout<[{}], partial = {dp}>>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  // CHECK-NOT: ds.all_reduce
  // CHECK:     %[[S:.*]] = ds.reduce_scatter %[[G]] over "dp"
  // CHECK:     return %[[S]]
  %0 = ds.relayout %g : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> tensor<8xf32, #ds.layout<[{dp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{dp}]>>
}

// CHECK-LABEL: func.func @scatters_to_flat
// CHECK-SAME:  (%[[G:.*]]: tensor
func.func @scatters_to_flat(%g: tensor<8x3xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<8x3xf32, #ds.layout<[{}, {}], flat = {dp}>> {
  // CHECK: %[[S:.*]] = ds.reduce_scatter %[[G]] over "dp"
  // CHECK: return %[[S]]
  %0 = ds.relayout %g : tensor<8x3xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x3xf32, #ds.layout<[{}, {}], flat = {dp}>>
  return %0 : tensor<8x3xf32, #ds.layout<[{}, {}], flat = {dp}>>
}

// CHECK-LABEL: func.func @takes_a_shard_for_nothing
// CHECK-SAME:  (%[[W:.*]]: tensor
func.func @takes_a_shard_for_nothing(%w: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {
  // CHECK-NEXT: %[[S:.*]] = ds.take_shard %[[W]] over "dp"
  // CHECK-NEXT: return %[[S]]
  %0 = ds.relayout %w : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}

// CHECK-LABEL: func.func @moves_a_split_by_all_to_all
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @moves_a_split_by_all_to_all(%x: tensor<8x4xf32, #ds.layout<[{tp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{}, {tp}]>> {
  // CHECK-NEXT: %[[Y:.*]] = ds.all_to_all %[[X]] over "tp"
  // CHECK-NEXT: return %[[Y]]
  %0 = ds.relayout %x : tensor<8x4xf32, #ds.layout<[{tp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {tp}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {tp}]>>
}

// The shard is gathered over its minor axis first: 3/4 of the bytes go over the whole block once.
// CHECK-LABEL: func.func @gathers_two_axes_minor_first
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @gathers_two_axes_minor_first(%x: tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = ds.all_gather %[[X]] over "dp"
  // CHECK-NEXT: %[[Z:.*]] = ds.all_gather %[[Y]] over "tp"
  // CHECK-NEXT: return %[[Z]]
  %0 = ds.relayout %x : tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @chains_share_their_casts
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @chains_share_their_casts(%x: tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> (tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, tensor<8x4xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = ds.all_gather %[[X]] over "dp"
  // CHECK-NEXT: %[[Z:.*]] = ds.all_gather %[[Y]] over "tp"
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  %0 = ds.relayout %x : tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>> -> tensor<8x4xf32, #ds.layout<[{tp}, {}]>>
  %1 = ds.relayout %x : tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>> -> tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, tensor<8x4xf32>
}

// Scattered before it is reduced again: the second reduction moves a quarter.
// CHECK-LABEL: func.func @scatters_before_it_reduces
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @scatters_before_it_reduces(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp, tp}>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {
  // CHECK-NEXT: %[[S:.*]] = ds.reduce_scatter %[[X]] over "dp"
  // CHECK-NEXT: %[[R:.*]] = ds.all_reduce %[[S]] over "tp"
  // CHECK-NEXT: return %[[R]]
  %0 = ds.relayout %x : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp, tp}>> -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}

// CHECK-LABEL: func.func @a_bias_becomes_a_summand
// CHECK-SAME:  (%[[B:.*]]: tensor
func.func @a_bias_becomes_a_summand(%b: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // CHECK-NEXT: %[[P:.*]] = ds.to_partial %[[B]] over "tp"
  // CHECK-NEXT: return %[[P]]
  %0 = ds.relayout %b : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// Maxima are folded before they can be summands of a sum.
// CHECK-LABEL: func.func @folds_before_it_makes_another_partial
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @folds_before_it_makes_another_partial(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp:max}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {dp}>> {
  // CHECK-NEXT: %[[Y:.*]] = ds.all_reduce %[[X]] over "dp"
  // CHECK-NEXT: %[[Z:.*]] = ds.to_partial %[[Y]] over "dp"
  // CHECK-NEXT: return %[[Z]]
  %0 = ds.relayout %x : tensor<8xf32, #ds.layout<[{}], partial = {dp:max}>> -> tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
}

// Deliberate round trips stay: a cast has no folder.
// CHECK-LABEL: func.func @leaves_casts_alone
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @leaves_casts_alone(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[S:.*]] = ds.take_shard %[[X]] over "dp"
  // CHECK-NEXT: %[[G:.*]] = ds.all_gather %[[S]] over "dp"
  // CHECK-NEXT: return %[[G]]
  %0 = ds.take_shard %x over "dp" : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{dp}]>>
  %1 = ds.all_gather %0 over "dp" : tensor<8xf32, #ds.layout<[{dp}]>> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_tensor_without_elements_is_cut_as_any
// CHECK:      %[[S:.*]] = ds.reduce_scatter %{{.*}} over "dp"
// CHECK-NEXT: return %[[S]]
func.func @a_tensor_without_elements_is_cut_as_any(%g: tensor<3x0xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<3x0xf32, #ds.layout<[{}, {}], flat = {dp}>> {
  %0 = ds.relayout %g : tensor<3x0xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<3x0xf32, #ds.layout<[{}, {}], flat = {dp}>>
  return %0 : tensor<3x0xf32, #ds.layout<[{}, {}], flat = {dp}>>
}
