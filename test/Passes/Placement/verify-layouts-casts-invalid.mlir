// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// Layouts fit the mesh.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @unknown_axis(%x: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{pp}]>> {
  // expected-error @below {{'ds.take_shard' op refers to unknown axis "pp", in 'tensor<8xf32, #ds.layout<[{pp}]>>'}}
  %0 = ds.take_shard %x over "pp" : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{pp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{pp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op refers to unknown axis "pp"}}
func.func @unknown_axis_of_an_argument(%x: tensor<8xf32, #ds.layout<[{pp}]>>) {
  return
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op axis "tp" must be used at most once, got it twice}}
func.func @axis_on_two_dims(%x: tensor<8x8xf32, #ds.layout<[{tp}, {tp}]>>) {
  return
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op axis "tp" must be used at most once, got it twice}}
func.func @axis_on_two_factors(%x: tensor<8xf32, #ds.layout<[(2{tp})(4{tp})]>>) {
  return
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op axis "tp" must be used at most once, got it twice}}
func.func @axis_on_a_dim_and_partial(%x: tensor<8xf32, #ds.layout<[{tp}], partial = {tp}>>) {
  return
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op axis "dp" must be used at most once, got it twice}}
func.func @axis_flat_and_partial(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp}, flat = {dp}>>) {
  return
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op partial axes must fold by one operation, got max over "dp" and sum over "tp"}}
func.func @two_folds(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp:max, tp}>>) {
  return
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'func.func' op `at` of axis "tp" must be in [0, 2), got 2}}
func.func @coordinate_that_is_not_there(%x: tensor<8xf32, #ds.layout<[{}], at = {tp = 2}>>) {
  return
}

// -----

// Variables are never partial.
ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'ds.variable' op must not be partial}}
ds.variable @g {role = #ds.role<gradient>} : tensor<8xf32, #ds.layout<[{}], partial = {dp}>>

// -----

ds.mesh @mesh <dp = 2, tp = 2>
// expected-error @below {{'ds.variable' op refers to unknown axis "pp"}}
ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{pp}]>>

// -----

// A cast does what it says.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @gather_of_the_major_axis(%x: tensor<8xf32, #ds.layout<[{dp, tp}]>>) -> tensor<8xf32, #ds.layout<[{tp}]>> {
  // expected-error @below {{'ds.all_gather' op must lead from [[{dp, tp}]] to [[{tp}]], which is remap over ""}}
  %0 = ds.all_gather %x over "dp" : tensor<8xf32, #ds.layout<[{dp, tp}]>> -> tensor<8xf32, #ds.layout<[{tp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @gather_below_a_flat_shard(%x: tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>> {
  // expected-error @below {{'ds.all_gather' op must lead from}}
  %0 = ds.all_gather %x over "tp" : tensor<8x4xf32, #ds.layout<[{tp}, {}], flat = {dp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @gather_that_also_reduces(%x: tensor<8xf32, #ds.layout<[{dp}], partial = {tp}>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.all_gather' op must lead from [[{dp}], partial = {tp}] to [[{}]]}}
  %0 = ds.all_gather %x over "dp" : tensor<8xf32, #ds.layout<[{dp}], partial = {tp}>> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @reduction_of_the_wrong_axis_only(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp, tp}>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.all_reduce' op must lead from [[{}], partial = {dp, tp}] to [[{}]]}}
  %0 = ds.all_reduce %x over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp, tp}>> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @shard_taken_as_the_major_axis(%x: tensor<8xf32, #ds.layout<[{tp}]>>) -> tensor<8xf32, #ds.layout<[{dp, tp}]>> {
  // expected-error @below {{'ds.take_shard' op must lead from [[{tp}]] to [[{dp, tp}]], which is remap over ""}}
  %0 = ds.take_shard %x over "dp" : tensor<8xf32, #ds.layout<[{tp}]>> -> tensor<8xf32, #ds.layout<[{dp, tp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{dp, tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @scatter_to_another_dim_than_it_says(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}>>) -> tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>> {
  // expected-error @below {{'ds.reduce_scatter' op must lead from}}
  %0 = ds.reduce_scatter %x over "tp" : tensor<8x4xf32, #ds.layout<[{dp}, {}], partial = {tp}>> -> tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @remap_that_drops_a_partial(%x: tensor<8xf32, #ds.layout<[{dp}], partial = {tp}>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.remap' op must keep partial, at and memory, got [[{dp}], partial = {tp}] -> [[{}]]}}
  %0 = ds.remap %x : tensor<8xf32, #ds.layout<[{dp}], partial = {tp}>> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @copy_that_gathers(%x: tensor<8xf32, #ds.layout<[{dp}], memory = host>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.copy' op must lead from [[{dp}], memory = host] to [[{}]]}}
  %0 = ds.copy %x : tensor<8xf32, #ds.layout<[{dp}], memory = host>> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @start_that_does_something_else(%x: tensor<8xf32, #ds.layout<[{}], partial = {dp}>>) -> tensor<8xf32> {
  // expected-error @below {{'ds.start' op must lead from [[{}], partial = {dp}] to [[{}]], which is all_reduce over "dp"}}
  %0 = ds.start all_gather %x over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> [tensor<8xf32>]
  %1 = ds.wait %0, %x : tensor<8xf32, #ds.layout<[{}], partial = {dp}>> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @wait_for_another_type_than_the_start(%x: tensor<8xf32, #ds.layout<[{}], flat = {dp}>>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  %0 = ds.start all_gather %x over "dp" : tensor<8xf32, #ds.layout<[{}], flat = {dp}>> -> [tensor<8xf32>]
  // expected-error @below {{'ds.wait' op}}
  %1 = ds.wait %0, %x : tensor<8xf32, #ds.layout<[{}], flat = {dp}>> -> tensor<8xf32, #ds.layout<[{dp}]>>
  return %1 : tensor<8xf32, #ds.layout<[{dp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @relayout_that_is_left(%x: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{dp}]>> {
  // expected-error @below {{'ds.relayout' op must be expanded into casts}}
  %0 = ds.relayout %x : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{dp}]>>
  return %0 : tensor<8xf32, #ds.layout<[{dp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @op_without_a_rule(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'math.asin' op has no layout rule}}
  %0 = math.asin %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

ds.mesh @mesh <dp = 2, pp = 2>
func.func @a_transfer_that_changes_dims(%x: tensor<8xf32, #ds.layout<[{}], at = {pp = 0}>>) -> tensor<8xf32, #ds.layout<[{dp}], at = {pp = 1}>> {
  // expected-error @below {{'ds.transfer' op must lead from [[{}], at = {pp = 0}] to [[{dp}], at = {pp = 1}]}}
  %0 = ds.transfer %x : tensor<8xf32, #ds.layout<[{}], at = {pp = 0}>> -> tensor<8xf32, #ds.layout<[{dp}], at = {pp = 1}>>
  return %0 : tensor<8xf32, #ds.layout<[{dp}], at = {pp = 1}>>
}

// -----

ds.mesh @mesh <pp = 2>
func.func @a_transfer_to_a_stage_that_is_not_there(%x: tensor<8xf32, #ds.layout<[{}], at = {pp = 0}>>) -> tensor<8xf32, #ds.layout<[{}], at = {pp = 2}>> {
  // expected-error @below {{'ds.transfer' op `at` of axis "pp" must be in [0, 2), got 2}}
  %0 = ds.transfer %x : tensor<8xf32, #ds.layout<[{}], at = {pp = 0}>> -> tensor<8xf32, #ds.layout<[{}], at = {pp = 2}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], at = {pp = 2}>>
}
