// Variables carry over from step to step; a loop adds the gradients of the parts.
// RUN: ds-interpret %s --function step --steps 3 --input rate=0.5 | FileCheck %s
// RUN: ds-interpret %s --function step --steps 3 --input rate=0.5 --mesh dp=3 | FileCheck %s
// RUN: ds-interpret %s --function adam --input g=1,-2 --steps 2 | FileCheck %s --check-prefix=ADAM
// RUN: ds-interpret %s --function sgd --input g=1,-2 --steps 2 | FileCheck %s --check-prefix=SGD
ds.mesh @mesh <dp = 2>
ds.variable @w {role = #ds.role<parameter>, initial = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : tensor<3xf32, #ds.layout<[{}], flat = {dp}>>
ds.variable @p {role = #ds.role<parameter>, initial = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
ds.variable @m {role = #ds.role<optimizer>} : tensor<2xf32>
ds.variable @v {role = #ds.role<optimizer>} : tensor<2xf32>
ds.variable @t {role = #ds.role<counter>, initial = dense<1.0> : tensor<f32>} : tensor<f32>

!flat = tensor<3xf32, #ds.layout<[{}], flat = {dp}>>
// CHECK: @w = [3] 0.5 1 1.5
// CHECK: @w = [3] 0.25 0.5 0.75
// CHECK: @w = [3] 0.125 0.25 0.375
func.func @step(%rate: tensor<f32> {ds.name = "rate"}) {
  %w = ds.read @w : !flat
  %zero = arith.constant dense<0.0> : !flat
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%g = %zero) -> (!flat) {
    %half = arith.constant dense<0.5> : !flat
    %part = arith.mulf %w, %half : !flat
    %next = arith.addf %g, %part : !flat
    scf.yield %next : !flat
  }
  %one = arith.constant dense<1.0> : tensor<f32>
  %new, %velocity = ds.sgd_update %w, %sum, %zero, %rate, %one
      {momentum = 0.0 : f64, dampening = 0.0 : f64, decay = 0.0 : f64} : (!flat, !flat, !flat, tensor<f32>, tensor<f32>) -> (!flat, !flat)
  ds.assign @w, %new : !flat
  return
}

// With a constant gradient Adam moves by rate against its sign, after decay to 0.98.
// ADAM: @m = [2] 0.1 -0.2
// ADAM: @p = [2] 0.88 1.08
// ADAM: @v = [2] 0.001 0.004
// ADAM: @m = [2] 0.19 -0.38
// ADAM: @p = [2] 0.7624 1.1584
func.func @adam(%g: tensor<2xf32> {ds.name = "g"}) {
  %p = ds.read @p : tensor<2xf32>
  %m = ds.read @m : tensor<2xf32>
  %v = ds.read @v : tensor<2xf32>
  %t = ds.read @t : tensor<f32>
  %rate = arith.constant dense<0.1> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %p1, %m1, %v1 = ds.adam_update %p, %g, %m, %v, %rate, %t
      {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 0.0 : f64, decay = 0.2 : f64, decoupled}
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %t1 = arith.addf %t, %one : tensor<f32>
  ds.assign @p, %p1 : tensor<2xf32>
  ds.assign @m, %m1 : tensor<2xf32>
  ds.assign @v, %v1 : tensor<2xf32>
  ds.assign @t, %t1 : tensor<f32>
  return
}

// Velocity: g, then 0.5 g + 0.75 g; Nesterov looks ahead by half of it.
// SGD: @m = [2] 1 -2
// SGD: @p = [2] 0.85 1.3
// SGD: @m = [2] 1.25 -2.5
// SGD: @p = [2] 0.6875 1.625
func.func @sgd(%g: tensor<2xf32> {ds.name = "g"}) {
  %p = ds.read @p : tensor<2xf32>
  %m = ds.read @m : tensor<2xf32>
  %t = ds.read @t : tensor<f32>
  %rate = arith.constant dense<0.1> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %p1, %m1 = ds.sgd_update %p, %g, %m, %rate, %t {momentum = 0.5 : f64, dampening = 0.25 : f64, decay = 0.0 : f64, nesterov}
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  %t1 = arith.addf %t, %one : tensor<f32>
  ds.assign @p, %p1 : tensor<2xf32>
  ds.assign @m, %m1 : tensor<2xf32>
  ds.assign @t, %t1 : tensor<f32>
  return
}
