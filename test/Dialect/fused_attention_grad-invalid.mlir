// RUN: ds-opt %s --split-input-file --verify-diagnostics --ds-verify-layouts

// C1
func.func @two_results(%x: tensor<2x8x3x4x16xf32>, %y: tensor<2x8x4x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @below {{'ds.fused_attention_grad' op must have one result or three, got 2}}
  %d:2 = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske->bs0kd,bt1kd,bt2ke", scale = 0.5 : f64}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>)
  return
}

// -----

// C2
func.func @no_indices_of_the_statistics(%x: tensor<2x8x3x4x16xf32>, %y: tensor<2x8x4x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @below {{'ds.fused_attention_grad' op indices must name 7 operands and 3 results, got "bs0kd,bt1kd,bt2ke,bske,bske->bs0kd,bt1kd,bt2ke"}}
  %d = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bske->bs0kd,bt1kd,bt2ke", scale = 0.5 : f64}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x3x4x16xf32>
  return
}

// -----

// C3
func.func @positions_of_a_statistic_that_are_not_last(%x: tensor<2x8x3x4x16xf32>, %y: tensor<2x8x4x16xf32>, %l: tensor<2x8x4xf32>) {
  // expected-error @below {{'ds.fused_attention_grad' op indices of 'tensor<2x8x4xf32>' must be the letters of "bks" and digits, the last one last, got "bsk"}}
  %d = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bsk,bsk,bske->bs0kd,bt1kd,bt2ke", scale = 0.5 : f64}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x3x4x16xf32>
  return
}

// -----

// C4
func.func @a_gradient_of_another_width(%x: tensor<2x8x3x4x16xf32>, %y: tensor<2x8x4x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @below {{'ds.fused_attention_grad' op index 'd' must have one size, got 16 and 12}}
  %d:3 = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske->bskd,btkd,btke", scale = 0.5 : f64}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x12xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return
}

// -----

// C5
func.func @two_gradients_in_one_place(%x: tensor<2x8x3x4x16xf32>, %y: tensor<2x8x4x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @below {{'ds.fused_attention_grad' op coordinates of a result must name each of its 3 parts once, got "bt1ke"}}
  %d = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske->bs0kd,bt1kd,bt1ke", scale = 0.5 : f64}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x3x4x16xf32>
  return
}

// -----

// C5
func.func @a_part_without_a_gradient(%x: tensor<2x8x3x4x16xf32>, %y: tensor<2x8x4x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @below {{'ds.fused_attention_grad' op coordinates of a result must name each of its 3 parts once, got "bs0kd"}}
  %d = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske->bs0kd,bt1kd,bt2ke", scale = 0.5 : f64}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x4x16xf32>
  return
}

// -----

ds.mesh @mesh <tp = 2>
// C6
func.func @split_groups_would_leave_partial_sums(%q: tensor<2x2x2x6x8xf32, #ds.layout<[{}, {}, {tp}, {}, {}]>>, %k: tensor<2x2x7x8xf32>, %l: tensor<2x2x2x6xf32, #ds.layout<[{}, {}, {tp}, {}]>>) {
  // expected-error @below {{a dim that the op needs whole must not be split, got axis "tp"}}
  %d:3 = ds.fused_attention_grad %q, %k, %k, %q, %l, %l, %q {indices = "bkgsd,bktd,bkte,bkgse,bkgs,bkgs,bkgse->bkgsd,bktd,bkte", scale = 0.5 : f64}
      : (tensor<2x2x2x6x8xf32, #ds.layout<[{}, {}, {tp}, {}, {}]>>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x2x6x8xf32, #ds.layout<[{}, {}, {tp}, {}, {}]>>, tensor<2x2x2x6xf32, #ds.layout<[{}, {}, {tp}, {}]>>, tensor<2x2x2x6xf32, #ds.layout<[{}, {}, {tp}, {}]>>, tensor<2x2x2x6x8xf32, #ds.layout<[{}, {}, {tp}, {}, {}]>>)
      -> (tensor<2x2x2x6x8xf32, #ds.layout<[{}, {}, {tp}, {}, {}]>>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
  return
}
