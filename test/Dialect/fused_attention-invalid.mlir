// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// C1
func.func @half_precision(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf16>) {
  // expected-error @below {{'ds.fused_attention' op tensors must be of f32, got 'tensor<2x4x7x3xf16>'}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf16>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C2
func.func @no_indices_of_the_value(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op indices must name 3 operands and 3 results, got "bksd,bktd->bkse,bks,bks"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C2
func.func @no_indices_of_the_statistics(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op indices must name 3 operands and 3 results, got "bksd,bktd,bkte->bkse"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C3
func.func @a_foreign_letter(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op indices of 'tensor<2x4x7x8xf32>' must be the letters of "bktd" and digits, the last one last, got "bkxd"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bkxd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C3
func.func @fewer_letters_than_dims(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8x1xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op indices of 'tensor<2x4x7x8x1xf32>' must be the letters of "bktd" and digits, the last one last, got "bktd"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8x1xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C3
func.func @a_width_that_is_not_last(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op indices of 'tensor<2x4x8x7xf32>' must be the letters of "bktd" and digits, the last one last, got "bkdt"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bkdt,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C3
func.func @a_group_of_the_query_alone(%q: tensor<2x4x2x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op indices of 'tensor<2x4x6x3xf32>' must be the letters of "bkgse" and digits, the last one last, got "bkse"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bkgsd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x2x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C4
func.func @a_coordinate_beyond_the_dim(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x3x8xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op coordinate 3 must be below the dim's size of 3}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bkt3d,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x3x8xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C5
func.func @two_numbers_of_keys(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x5x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op index 't' must have one size, got 7 and 5}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C6
func.func @causal_with_fewer_keys_than_queries(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op a causal attention must have as many keys as queries, got 5 and 6}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64, causal}
      : (tensor<2x4x6x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x3xf32>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

// C7
func.func @a_result_with_parts_that_nobody_writes(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf32>) {
  // expected-error @below {{'ds.fused_attention' op coordinates of a result must name each of its 1 part once, got "bk0se"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bk0se,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> (tensor<2x4x2x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}

// -----

ds.mesh @mesh <tp = 2>
// C8
func.func @split_keys(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>, %v: tensor<2x4x8x3xf32, #ds.layout<[{}, {}, {tp}, {}]>>) {
  // expected-error @below {{a dim that the op needs whole must not be split, got axis "tp"}}
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x8x8xf32, #ds.layout<[{}, {}, {tp}, {}]>>, tensor<2x4x8x3xf32, #ds.layout<[{}, {}, {tp}, {}]>>) -> (tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return
}
