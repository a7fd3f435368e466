// What composites are written out as computes the same: with constants of f64 up to rounding, with f32 up to that of the
// constants.
// RUN: ds-opt %s --check-each-pass --pass-pipeline='builtin.module(func.func(ds-decompose-composites))' -o %t
// RUN: ds-interpret %s --function first_step --input p=2 --input g=0.5 --input v=4 --input rate=0.125 --input step=1 | FileCheck %s --check-prefix=FIRST
// RUN: ds-interpret %t --function first_step --input p=2 --input g=0.5 --input v=4 --input rate=0.125 --input step=1 | FileCheck %s --check-prefix=FIRST
// RUN: ds-interpret %s --function first_step --input p=2 --input g=0.5 --input v=4 --input rate=0.125 --input step=2 | FileCheck %s --check-prefix=LATER
// RUN: ds-interpret %t --function first_step --input p=2 --input g=0.5 --input v=4 --input rate=0.125 --input step=2 | FileCheck %s --check-prefix=LATER

// In step 1 the velocity is the direction, whatever a variable held before; later 0.5 * 4 + (1 - 0.25) * 0.5.
// FIRST: new_p = [3] 1.9375 1.9375 1.9375
// FIRST: new_v = [3] 0.5 0.5 0.5
// LATER: new_p = [3] 1.70312 1.70312 1.70312
// LATER: new_v = [3] 2.375 2.375 2.375
func.func @first_step(%p: tensor<3xf32> {ds.name = "p"}, %g: tensor<3xf32> {ds.name = "g"}, %v: tensor<3xf32> {ds.name = "v"},
                      %rate: tensor<f32> {ds.name = "rate"}, %step: tensor<f32> {ds.name = "step"})
    -> (tensor<3xf32> {ds.name = "new_p"}, tensor<3xf32> {ds.name = "new_v"}) {
  %0:2 = ds.sgd_update %p, %g, %v, %rate, %step {momentum = 0.5 : f64, dampening = 0.25 : f64, decay = 0.0 : f64}
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
}

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

func.func @updates(%p: tensor<9xf64>, %g: tensor<9xf64>, %m: tensor<9xf64>, %v: tensor<9xf64>, %rate: tensor<f64>, %step: tensor<f64>)
    -> (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<9xf64>) {
  %square = arith.mulf %v, %v : tensor<9xf64>
  %0:3 = ds.adam_update %p, %g, %m, %square, %rate, %step {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-8 : f64, decay = 0.01 : f64, decoupled}
      : (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<f64>, tensor<f64>) -> (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>)
  %1:2 = ds.sgd_update %p, %g, %m, %rate, %step {momentum = 0.9 : f64, dampening = 0.1 : f64, decay = 0.01 : f64, nesterov}
      : (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<f64>, tensor<f64>) -> (tensor<9xf64>, tensor<9xf64>)
  return %0#0, %0#1, %0#2, %1#0 : tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<9xf64>
}
