// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-guard-assigns,ds-verify-program)' | FileCheck %s

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
ds.variable @v {role = #ds.role<optimizer>} : tensor<4xf32>
ds.variable @count {role = #ds.role<buffer>} : tensor<i64>
ds.variable @untouched {role = #ds.role<buffer>} : tensor<4xf32>

// All variables follow one flag, which holds if loss and norm are finite; one that the step did not read is read now.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[LOSS:[a-z0-9]*]]: tensor<f32> {ds.name = "l"}, %[[NORM:[a-z0-9]*]]: tensor<f32> {ds.name = "n"}, %[[X:[a-z0-9]*]]: tensor<4xf32> {ds.name = "x"}, %[[I:[a-z0-9]*]]: tensor<i64> {ds.name = "i"})
// CHECK-DAG:   %[[W:.*]] = ds.read @w
// CHECK-DAG:   %[[V:.*]] = ds.read @v
// CHECK-DAG:   %[[C:.*]] = ds.read @count
// CHECK-NOT:   ds.read @untouched
// CHECK:       %[[W1:.*]] = arith.addf %[[W]], %[[X]]
// CHECK-DAG:   %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<f32>
// CHECK-DAG:   %[[ALOSS:.*]] = math.absf %[[LOSS]]
// CHECK:       %[[GOOD:.*]] = arith.cmpf olt, %[[ALOSS]], %[[INF]]
// CHECK:       %[[ANORM:.*]] = math.absf %[[NORM]]
// CHECK:       %[[ALSO:.*]] = arith.cmpf olt, %[[ANORM]]
// CHECK:       %[[FINITE:.*]] = arith.andi %[[GOOD]], %[[ALSO]]
// CHECK:       %[[FLAGS:.*]] = ds.broadcast %[[FINITE]] {dims = array<i64>} : (tensor<i1>) -> tensor<4xi1>
// CHECK:       %[[KEPT:.*]] = arith.select %[[FLAGS]], %[[W1]], %[[W]]
// CHECK:       %[[STATE:.*]] = arith.select %[[FLAGS]], %[[X]], %[[V]]
// CHECK:       %[[COUNT:.*]] = arith.select %[[FINITE]], %[[I]], %[[C]]
// CHECK:       ds.assign @w, %[[KEPT]]
// CHECK:       ds.assign @v, %[[STATE]]
// CHECK:       ds.assign @count, %[[COUNT]]
// CHECK:       return %[[LOSS]], %[[NORM]]
func.func @step(%l: tensor<f32> {ds.name = "l"}, %n: tensor<f32> {ds.name = "n"}, %x: tensor<4xf32> {ds.name = "x"}, %i: tensor<i64> {ds.name = "i"}) -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.name = "grad_norm"}) {
  %w = ds.read @w : tensor<4xf32>
  %w1 = arith.addf %w, %x : tensor<4xf32>
  ds.assign @w, %w1 : tensor<4xf32>
  ds.assign @v, %x : tensor<4xf32>
  ds.assign @count, %i : tensor<i64>
  return %l, %n : tensor<f32>, tensor<f32>
}
