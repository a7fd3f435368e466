// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-attach-optimizer{kind=adamw beta1=0.8 weight-decay=0.1},ds-verify-program)' | FileCheck %s
// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-attach-optimizer{kind=adam bias-correction=false},ds-verify-program)' | FileCheck %s --check-prefix=ADAM
// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-attach-optimizer{kind=sgd momentum=0.9 dampening=0.1 nesterov},ds-verify-program)' | FileCheck %s --check-prefix=MOMENTUM
// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-attach-optimizer{kind=sgd dampening=0.1},ds-verify-program)' | FileCheck %s --check-prefix=SGD

// CHECK-DAG: ds.variable @ds.step {role = #ds.role<counter>} : tensor<f32>
// CHECK-DAG: ds.variable @w.exp_avg {role = #ds.role<optimizer>} : tensor<4xf32>
// CHECK-DAG: ds.variable @w.exp_avg_sq {role = #ds.role<optimizer>} : tensor<4xf32>
// MOMENTUM:  ds.variable @w.momentum {role = #ds.role<optimizer>} : tensor<4xf32>
// SGD-NOT:   #ds.role<optimizer>
ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
ds.variable @mean {role = #ds.role<buffer>} : tensor<4xf32>

// A parameter that the step did not read is read; the assign that was there stays among the last.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[G:[a-z0-9]*]]: tensor<4xf32> {ds.name = "g"}, %[[RATE:[a-z0-9]*]]: tensor<f32> {ds.name = "ds.learning_rate"})
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"})
// CHECK-DAG:   %[[W:.*]] = ds.read @w :
// CHECK-DAG:   %[[T:.*]] = ds.read @ds.step
// CHECK-DAG:   %[[M:.*]] = ds.read @w.exp_avg :
// CHECK-DAG:   %[[V:.*]] = ds.read @w.exp_avg_sq
// CHECK:       %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK:       %[[T1:.*]] = arith.addf %[[T]], %[[ONE]]
// CHECK:       %[[W1:.*]], %[[M1:.*]], %[[V1:.*]] = ds.adam_update %[[W]], %[[G]], %[[M]], %[[V]], %[[RATE]], %[[T1]] {beta1 = 8.000000e-01 : f64, beta2 = 0.99899999999999999 : f64, decay = 1.000000e-01 : f64, decoupled, epsilon = 1.000000e-08 : f64}
// CHECK:       ds.assign @mean
// CHECK:       ds.assign @ds.step, %[[T1]]
// CHECK:       ds.assign @w, %[[W1]]
// CHECK:       ds.assign @w.exp_avg, %[[M1]]
// CHECK:       ds.assign @w.exp_avg_sq, %[[V1]]

// Without bias correction the step is so large that beta to its power is 0.
// ADAM: %[[ENDLESS:.*]] = arith.constant dense<1.000000e+09> : tensor<f32>
// ADAM: ds.adam_update {{.*}}, %[[ENDLESS]] {beta1 = 9.000000e-01 : f64, beta2 = 0.99899999999999999 : f64, decay = 0.000000e+00 : f64, epsilon = 1.000000e-08 : f64}

// MOMENTUM: %[[W1:.*]], %[[V1:.*]] = ds.sgd_update {{.*}} {dampening = 1.000000e-01 : f64, decay = 0.000000e+00 : f64, momentum = 9.000000e-01 : f64, nesterov}
// MOMENTUM: ds.assign @w.momentum, %[[V1]]

// Without momentum there is no state, and no dampening.
// SGD: func.func @step(%{{.*}}: tensor<f32> {{.*}}, %[[G:[a-z0-9]*]]: tensor<4xf32>
// SGD: ds.sgd_update %{{.*}}, %[[G]], %[[G]], {{.*}} {dampening = 0.000000e+00 : f64, decay = 0.000000e+00 : f64, momentum = 0.000000e+00 : f64}
func.func @step(%l: tensor<f32> {ds.name = "l"}, %g: tensor<4xf32> {ds.name = "g"}) -> (tensor<f32> {ds.name = "loss"}, tensor<4xf32> {ds.gradient = @w}) {
  %m = ds.read @mean : tensor<4xf32>
  %n = arith.addf %m, %g : tensor<4xf32>
  ds.assign @mean, %n : tensor<4xf32>
  return %l, %g : tensor<f32>, tensor<4xf32>
}
