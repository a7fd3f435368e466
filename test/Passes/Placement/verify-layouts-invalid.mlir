// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// A missing all-reduce: what is not linear meets a partial sum.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @exp_of_a_partial(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'math.exp' op operand 0 must not be partial, got partial over "tp"}}
  %0 = math.exp %x : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @product_of_two_partials(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'arith.mulf' op operand 0 must not be partial, got partial over "tp"}}
  %0 = arith.mulf %x, %x : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @quotient_of_two_partials(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'arith.divf' op operand 0 must not be partial, got partial over "tp"}}
  %0 = arith.divf %x, %x : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @narrowing_of_a_partial(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xbf16, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'arith.truncf' op operand 0 must not be partial, got partial over "tp"}}
  %0 = arith.truncf %x : tensor<8xf32, #ds.layout<[{}], partial = {tp}>> to tensor<8xbf16, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xbf16, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @comparison_of_partials(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xi1, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'arith.cmpf' op operand 0 must not be partial, got partial over "tp"}}
  %0 = arith.cmpf ogt, %x, %x : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xi1, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @selection_by_a_partial_condition(%c: tensor<8xi1, #ds.layout<[{}], partial = {tp}>>, %x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>)
    -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'ds.where' op operand 0 must not be partial, got partial over "tp"}}
  %0 = ds.where %c, %x, %x : tensor<8xi1, #ds.layout<[{}], partial = {tp}>>, tensor<8xf32, #ds.layout<[{}], partial = {tp}>>,
      tensor<8xf32, #ds.layout<[{}], partial = {tp}>> -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @gelu_of_a_partial(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'ds.gelu' op operand 0 must not be partial, got partial over "tp"}}
  %0 = ds.gelu %x {kind = #ds.gelu_kind<tanh>} : (tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @norm_of_a_partial(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'ds.rms_norm' op operand 0 must not be partial, got partial over "tp"}}
  %0 = ds.rms_norm %x, %g {epsilon = 1.0e-05 : f64} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @loss_of_partial_logits(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, %l: tensor<4xi64>) -> tensor<4xf32> {
  // expected-error @below {{'ds.cross_entropy' op operand 0 must not be partial, got partial over "tp"}}
  %0 = ds.cross_entropy %x, %l {ignore_index = -100 : i64} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @partial_that_vanishes(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<2x4xf32> {
  // expected-error @below {{'ds.reshape' op result must be partial over {tp}, got {}}}
  %0 = ds.reshape %x : (tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @contraction_of_a_split_index_that_is_not_partial(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, %w: tensor<8x6xf32, #ds.layout<[{tp}, {}]>>) -> tensor<4x6xf32> {
  // expected-error @below {{'ds.matmul' op result must be partial over {tp}, got {}}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>, tensor<8x6xf32, #ds.layout<[{tp}, {}]>>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @sum_of_a_split_dim_that_is_not_partial(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4xf32> {
  // expected-error @below {{'ds.reduce' op result must be partial over {tp}, got {}}}
  %0 = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @maximum_of_a_split_dim_as_a_sum(%x: tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'ds.reduce' op result must be partial over {tp:max}, got {tp}}}
  %0 = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<max>} : (tensor<4x8xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<4xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

// Additive: all operands alike.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @concatenation_of_a_partial_and_a_whole(%x: tensor<4xf32, #ds.layout<[{}], partial = {tp}>>, %b: tensor<4xf32>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'ds.concat' op operands must be partial over the same axes, got {tp} and {}}}
  %0 = ds.concat %x, %b {dim = 0 : i64} : (tensor<4xf32, #ds.layout<[{}], partial = {tp}>>, tensor<4xf32>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @where_of_a_partial_and_a_whole(%c: tensor<8xi1>, %x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>, %y: tensor<8xf32>)
    -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'ds.where' op operands must be partial over the same axes, got {tp} and {}}}
  %0 = ds.where %c, %x, %y : tensor<8xi1>, tensor<8xf32, #ds.layout<[{}], partial = {tp}>>, tensor<8xf32> -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @sum_of_partial_maxima(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>> {
  // expected-error @below {{'arith.addf' op a partial max must not pass, got axis "tp"}}
  %0 = arith.addf %x, %x : tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @maximum_of_partial_sums(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'arith.maximumf' op a partial sum must not pass, got axis "tp"}}
  %0 = arith.maximumf %x, %x : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @negative_of_a_partial_maximum(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>> {
  // expected-error @below {{'arith.negf' op a partial max must not pass, got axis "tp"}}
  %0 = arith.negf %x : tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @zeros_around_a_partial_maximum(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>) -> tensor<10xf32, #ds.layout<[{}], partial = {tp:max}>> {
  // expected-error @below {{'ds.pad' op a partial max must not pass, got axis "tp"}}
  %0 = ds.pad %x {low = array<i64: 1>, interior = array<i64: 0>} : (tensor<8xf32, #ds.layout<[{}], partial = {tp:max}>>) -> tensor<10xf32, #ds.layout<[{}], partial = {tp:max}>>
  return %0 : tensor<10xf32, #ds.layout<[{}], partial = {tp:max}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @sum_over_a_dim_of_partial_maxima(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp:max}>>) -> tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>> {
  // expected-error @below {{'ds.reduce' op a partial max must not pass, got axis "tp"}}
  %0 = ds.reduce %x {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp:max}>>) -> tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>>
  return %0 : tensor<4xf32, #ds.layout<[{}], partial = {tp:max}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @constant_that_is_not_zero(%x: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // expected-error @below {{'arith.constant' op result must be partial over {}, got {tp}}}
  %0 = arith.constant dense<1.0> : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}

// -----

// Multilinear: per axis one partial operand, and then no index on that axis.
ds.mesh @mesh <dp = 2, tp = 2>
func.func @matmul_of_two_partials_over_one_axis(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, %w: tensor<8x6xf32, #ds.layout<[{}, {}], partial = {tp}>>)
    -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>> {
  // expected-error @below {{'ds.matmul' op at most one operand must be partial over "tp"}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8x6xf32, #ds.layout<[{}, {}], partial = {tp}>>)
      -> tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @axis_that_is_partial_and_on_an_index(%x: tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, %w: tensor<8x6xf32, #ds.layout<[{}, {tp}]>>)
    -> tensor<4x6xf32, #ds.layout<[{}, {tp}]>> {
  // expected-error @below {{'ds.matmul' op axis "tp" must not be partial and on an index}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8x6xf32, #ds.layout<[{}, {tp}]>>)
      -> tensor<4x6xf32, #ds.layout<[{}, {tp}]>>
  return %0 : tensor<4x6xf32, #ds.layout<[{}, {tp}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @axis_on_two_indices(%x: tensor<4x8xf32, #ds.layout<[{tp}, {}]>>, %w: tensor<8x6xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x6xf32, #ds.layout<[{tp}, {}]>> {
  // expected-error @below {{'ds.matmul' op result 0 dim 1 must be split as [{tp}] like the values that share its index, got [{}]}}
  %0 = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<4x8xf32, #ds.layout<[{tp}, {}]>>, tensor<8x6xf32, #ds.layout<[{}, {tp}]>>) -> tensor<4x6xf32, #ds.layout<[{tp}, {}]>>
  return %0 : tensor<4x6xf32, #ds.layout<[{tp}, {}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @axis_on_rows_of_the_table_and_on_ids(%t: tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, %i: tensor<6xi64, #ds.layout<[{tp}]>>) -> tensor<6x4xf32, #ds.layout<[{tp}, {}]>> {
  // expected-error @below {{'ds.gather_rows' op axis "tp" must be on one index only}}
  %0 = ds.gather_rows %t, %i : (tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, tensor<6xi64, #ds.layout<[{tp}]>>) -> tensor<6x4xf32, #ds.layout<[{tp}, {}]>>
  return %0 : tensor<6x4xf32, #ds.layout<[{tp}, {}]>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @ids_that_are_partial(%t: tensor<8x4xf32>, %i: tensor<6xi64, #ds.layout<[{}], partial = {tp}>>) -> tensor<6x4xf32> {
  // expected-error @below {{'ds.gather_rows' op operand 1 must not be partial, got partial over "tp"}}
  %0 = ds.gather_rows %t, %i : (tensor<8x4xf32>, tensor<6xi64, #ds.layout<[{}], partial = {tp}>>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @gather_from_split_rows_that_is_not_partial(%t: tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, %i: tensor<6xi64>) -> tensor<6x4xf32> {
  // expected-error @below {{'ds.gather_rows' op result must be partial over {tp}, got {}}}
  %0 = ds.gather_rows %t, %i : (tensor<8x4xf32, #ds.layout<[{tp}, {}]>>, tensor<6xi64>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @scatter_of_split_ids_that_is_not_partial(%i: tensor<6xi64, #ds.layout<[{dp}]>>, %u: tensor<6x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32> {
  // expected-error @below {{'ds.scatter_add_rows' op result must be partial over {dp}, got {}}}
  %0 = ds.scatter_add_rows %i, %u : (tensor<6xi64, #ds.layout<[{dp}]>>, tensor<6x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @rows_of_a_rank_that_are_no_interval(%t: tensor<8x4xf32, #ds.layout<[(2)(4{tp}), {}]>>, %i: tensor<6xi64>) -> tensor<6x4xf32, #ds.layout<[{}, {}], partial = {tp}>> {
  // expected-error @below {{'ds.gather_rows' op a dim whose positions the op computes with must be one interval on each rank, got [(2)(4{tp})]}}
  %0 = ds.gather_rows %t, %i : (tensor<8x4xf32, #ds.layout<[(2)(4{tp}), {}]>>, tensor<6xi64>) -> tensor<6x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
  return %0 : tensor<6x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
}

// -----

ds.mesh @mesh <dp = 2, tp = 2>
func.func @all_to_all_between_factors_that_overlap(%x: tensor<8xf32, #ds.layout<[(4{tp})(2)]>>) -> tensor<8xf32, #ds.layout<[(2)(4{tp})]>> {
  // expected-error @below {{'ds.all_to_all' op must lead from [[(4{tp})(2)]] to [[(2)(4{tp})]], which is remap over ""}}
  %0 = ds.all_to_all %x over "tp" : tensor<8xf32, #ds.layout<[(4{tp})(2)]>> -> tensor<8xf32, #ds.layout<[(2)(4{tp})]>>
  return %0 : tensor<8xf32, #ds.layout<[(2)(4{tp})]>>
}
