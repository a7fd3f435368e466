// What composites are written out as computes the same: with constants of f64 up to rounding, with f32 up to that of the
// constants.
// RUN: ds-opt %s --check-each-pass --pass-pipeline='builtin.module(func.func(ds-decompose-composites))' -o %t

func.func @norms_and_activations(%x: tensor<5x7xf64>, %scale: tensor<7xf64>, %bias: tensor<7xf64>)
    -> (tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>) {
  %0 = ds.layer_norm %x, %scale, %bias {epsilon = 1.0e-05 : f64} : (tensor<5x7xf64>, tensor<7xf64>, tensor<7xf64>) -> tensor<5x7xf64>
  %1 = ds.rms_norm %x, %scale {epsilon = 1.0e-06 : f64} : (tensor<5x7xf64>, tensor<7xf64>) -> tensor<5x7xf64>
  %2 = ds.softmax %x {dim = 1 : i64} : (tensor<5x7xf64>) -> tensor<5x7xf64>
  %3 = ds.log_softmax %x {dim = 0 : i64} : (tensor<5x7xf64>) -> tensor<5x7xf64>
  %4 = ds.gelu %x {kind = #ds.gelu_kind<tanh>} : (tensor<5x7xf64>) -> tensor<5x7xf64>
  %5 = ds.gelu %x {kind = #ds.gelu_kind<erf>} : (tensor<5x7xf64>) -> tensor<5x7xf64>
  %6 = ds.silu %x : (tensor<5x7xf64>) -> tensor<5x7xf64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>
}

func.func @softmax_between_other_dims(%x: tensor<2x3x4x5xf64>) -> (tensor<2x3x4x5xf64>, tensor<2x3x4x5xf64>) {
  %0 = ds.softmax %x {dim = 1 : i64} : (tensor<2x3x4x5xf64>) -> tensor<2x3x4x5xf64>
  %1 = ds.log_softmax %x {dim = 2 : i64} : (tensor<2x3x4x5xf64>) -> tensor<2x3x4x5xf64>
  return %0, %1 : tensor<2x3x4x5xf64>, tensor<2x3x4x5xf64>
}

func.func @losses(%x: tensor<6x5xf64>, %labels: tensor<6xi64>, %g: tensor<6xf64>) -> (tensor<6xf64>, tensor<6x5xf64>) {
  %0 = ds.cross_entropy %x, %labels {ignore_index = -100 : i64} : (tensor<6x5xf64>, tensor<6xi64>) -> tensor<6xf64>
  %1 = ds.cross_entropy_grad %x, %labels, %g {ignore_index = -100 : i64} : (tensor<6x5xf64>, tensor<6xi64>, tensor<6xf64>) -> tensor<6x5xf64>
  return %0, %1 : tensor<6xf64>, tensor<6x5xf64>
}

func.func @attention(%q: tensor<2x4x6x8xf64>, %k: tensor<2x2x6x8xf64>, %g: tensor<2x4x6x8xf64>, %c: tensor<6x4xf64>)
    -> (tensor<2x4x6x8xf64>, tensor<2x4x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x4x6x8xf64>) {
  %0 = ds.attention %q, %k, %k {scale = 0.3 : f64, causal} : (tensor<2x4x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x2x6x8xf64>) -> tensor<2x4x6x8xf64>
  %1:3 = ds.attention_grad %q, %k, %k, %g {scale = 0.3 : f64, causal} : (tensor<2x4x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x4x6x8xf64>)
      -> (tensor<2x4x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x2x6x8xf64>)
  %2 = ds.rotary_embedding %q, %c, %c : (tensor<2x4x6x8xf64>, tensor<6x4xf64>, tensor<6x4xf64>) -> tensor<2x4x6x8xf64>
  return %0, %1#0, %1#1, %1#2, %2 : tensor<2x4x6x8xf64>, tensor<2x4x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x2x6x8xf64>, tensor<2x4x6x8xf64>
}

func.func @rotations(%x: tensor<2x4x6x8xf64>, %row: tensor<8xf64>, %outer: tensor<2x6x4xf64>, %whole: tensor<4x6x8xf64>)
    -> (tensor<2x4x6x8xf64>, tensor<2x4x6x8xf64>, tensor<2x4x6x8xf64>) {
  %0 = ds.rotary_embedding %x, %row, %row : (tensor<2x4x6x8xf64>, tensor<8xf64>, tensor<8xf64>) -> tensor<2x4x6x8xf64>
  %1 = ds.rotary_embedding %x, %outer, %outer {dims = array<i64: 0, 2>}
      : (tensor<2x4x6x8xf64>, tensor<2x6x4xf64>, tensor<2x6x4xf64>) -> tensor<2x4x6x8xf64>
  %2 = ds.rotary_embedding %x, %whole, %whole : (tensor<2x4x6x8xf64>, tensor<4x6x8xf64>, tensor<4x6x8xf64>) -> tensor<2x4x6x8xf64>
  return %0, %1, %2 : tensor<2x4x6x8xf64>, tensor<2x4x6x8xf64>, tensor<2x4x6x8xf64>
}

func.func @reductions(%x: tensor<2x3x4x5xf64>) -> (tensor<3x5xf64>, tensor<2x4xf64>, tensor<3x4xf64>) {
  %0 = ds.reduce %x {dims = array<i64: 0, 2>, kind = #ds.reduction<sum>} : (tensor<2x3x4x5xf64>) -> tensor<3x5xf64>
  %1 = ds.reduce %x {dims = array<i64: 1, 3>, kind = #ds.reduction<sum>} : (tensor<2x3x4x5xf64>) -> tensor<2x4xf64>
  %2 = ds.reduce %x {dims = array<i64: 0, 3>, kind = #ds.reduction<sum>} : (tensor<2x3x4x5xf64>) -> tensor<3x4xf64>
  return %0, %1, %2 : tensor<3x5xf64>, tensor<2x4xf64>, tensor<3x4xf64>
}
