// What updates are written out as computes the same: with constants of f64 up to rounding.
// RUN: ds-opt %s --check-each-pass --pass-pipeline='builtin.module(func.func(ds-decompose-updates))' -o %t
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

func.func @updates(%p: tensor<9xf64>, %g: tensor<9xf64>, %m: tensor<9xf64>, %v: tensor<9xf64>, %rate: tensor<f64>, %step: tensor<f64>)
    -> (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<9xf64>) {
  %square = arith.mulf %v, %v : tensor<9xf64>
  %0:3 = ds.adam_update %p, %g, %m, %square, %rate, %step {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-8 : f64, decay = 0.01 : f64, decoupled}
      : (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<f64>, tensor<f64>) -> (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>)
  %1:2 = ds.sgd_update %p, %g, %m, %rate, %step {momentum = 0.9 : f64, dampening = 0.1 : f64, decay = 0.01 : f64, nesterov}
      : (tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<f64>, tensor<f64>) -> (tensor<9xf64>, tensor<9xf64>)
  return %0#0, %0#1, %0#2, %1#0 : tensor<9xf64>, tensor<9xf64>, tensor<9xf64>, tensor<9xf64>
}

// Parameters narrower than their state, and a rate and step of another type than both.
func.func @updates_of_mixed_types(%p: tensor<9xf32>, %g: tensor<9xf32>, %m: tensor<9xf64>, %v: tensor<9xf64>, %rate: tensor<f32>, %step: tensor<f32>)
    -> (tensor<9xf32>, tensor<9xf64>, tensor<9xf64>, tensor<9xf32>) {
  %square = arith.mulf %v, %v : tensor<9xf64>
  %0:3 = ds.adam_update %p, %g, %m, %square, %rate, %step {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-8 : f64, decay = 0.01 : f64}
      : (tensor<9xf32>, tensor<9xf32>, tensor<9xf64>, tensor<9xf64>, tensor<f32>, tensor<f32>) -> (tensor<9xf32>, tensor<9xf64>, tensor<9xf64>)
  %1:2 = ds.sgd_update %p, %g, %m, %rate, %step {momentum = 0.9 : f64, dampening = 0.1 : f64, decay = 0.01 : f64}
      : (tensor<9xf32>, tensor<9xf32>, tensor<9xf64>, tensor<f32>, tensor<f32>) -> (tensor<9xf32>, tensor<9xf64>)
  return %0#0, %0#1, %0#2, %1#0 : tensor<9xf32>, tensor<9xf64>, tensor<9xf64>, tensor<9xf32>
}
