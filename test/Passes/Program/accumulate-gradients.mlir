// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-accumulate-gradients{parts=4},ds-verify-program)' | FileCheck %s
// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-accumulate-gradients)' | FileCheck %s --check-prefix=ONE

ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32>
ds.variable @mean {role = #ds.role<buffer>} : tensor<8xf32>

// ONE-LABEL: func.func @step(
// ONE-SAME:  tensor<2x8xf32>
// ONE-NOT:   scf.for

// Inputs are four times as long; sums and the running mean go from part to part, parameters are read outside.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[X:[a-z0-9]*]]: tensor<8x8xf32> {ds.name = "x"}, %[[S:[a-z0-9]*]]: tensor<f32> {ds.name = "scale"})
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<8xf32> {ds.gradient = @w})
func.func @step(%x: tensor<2x8xf32> {ds.name = "x"}, %s: tensor<f32> {ds.name = "scale"}) -> (tensor<f32> {ds.name = "loss"}, tensor<8xf32> {ds.gradient = @w}) {
  // CHECK-DAG: %[[W:.*]] = ds.read @w
  // CHECK-DAG: %[[M:.*]] = ds.read @mean
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK: %[[R:.*]]:3 = scf.for %[[I:.*]] = %{{.*}} to %[[C4]] step %{{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]], %[[SUMS:.*]] = %[[ZEROS]], %[[CARRIED:.*]] = %[[M]])
  // CHECK:   %[[PART:.*]] = ds.take_part %[[X]][%[[I]]] {parts = 4 : i64} : tensor<8x8xf32> -> tensor<2x8xf32>
  // CHECK:   %[[G:.*]] = ds.reduce %[[PART]]
  // CHECK:   %[[NEXT:.*]] = arith.addf %[[CARRIED]], %[[G]]
  // CHECK:   %[[P:.*]] = arith.mulf %[[G]], %[[W]]
  // CHECK:   %[[L:.*]] = ds.reduce %[[P]]
  // CHECK:   %[[LS:.*]] = arith.mulf %[[L]], %[[S]]
  // CHECK:   %[[SUM1:.*]] = arith.addf %[[SUM]], %[[LS]]
  // CHECK:   %[[SUMS1:.*]] = arith.addf %[[SUMS]], %[[G]]
  // CHECK:   scf.yield %[[SUM1]], %[[SUMS1]], %[[NEXT]]
  // CHECK: {ds.gradients = [unit, @w, unit]}
  %w = ds.read @w : tensor<8xf32>
  %m = ds.read @mean : tensor<8xf32>
  %g = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2x8xf32>) -> tensor<8xf32>
  %next = arith.addf %m, %g : tensor<8xf32>
  %p = arith.mulf %g, %w : tensor<8xf32>
  %l = ds.reduce %p {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<8xf32>) -> tensor<f32>
  %loss = arith.mulf %l, %s : tensor<f32>
  // CHECK-DAG: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01> : tensor<f32>
  // CHECK-DAG: %[[MEAN:.*]] = arith.mulf %[[R]]#0, %[[QUARTER]]
  // CHECK-DAG: %[[QUARTERS:.*]] = arith.constant dense<2.500000e-01> : tensor<8xf32>
  // CHECK-DAG: %[[MEANS:.*]] = arith.mulf %[[R]]#1, %[[QUARTERS]]
  // CHECK: ds.assign @mean, %[[R]]#2
  ds.assign @mean, %next : tensor<8xf32>
  // CHECK: return %[[MEAN]], %[[MEANS]]
  return %loss, %g : tensor<f32>, tensor<8xf32>
}

// -----

ds.variable @w {role = #ds.role<parameter>} : tensor<2xf32>

// Sums of the parts are divided by the number of labels in all of them, which is no result any more. An input without
// samples is the same in all parts.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[X:[a-z0-9]*]]: tensor<8xf32> {ds.name = "x"}, %[[TABLE:[a-z0-9]*]]: tensor<2xf32> {ds.name = "table", ds.whole})
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<2xf32> {ds.gradient = @w})
// ONE-LABEL: func.func @step(
// ONE-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<2xf32> {ds.gradient = @w})
func.func @step(%x: tensor<2xf32> {ds.name = "x"}, %table: tensor<2xf32> {ds.name = "table", ds.whole}) -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.name = "ds.label_count"}, tensor<2xf32> {ds.gradient = @w}) {
  // CHECK: %[[R:.*]]:3 = scf.for
  // CHECK:   ds.take_part %[[X]]
  // CHECK-NOT: ds.take_part
  // CHECK:   arith.mulf %{{.*}}, %[[TABLE]]
  %0 = arith.mulf %x, %table : tensor<2xf32>
  %loss = ds.reduce %0 {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2xf32>) -> tensor<f32>
  %count = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2xf32>) -> tensor<f32>
  // CHECK: %[[COUNT:.*]] = arith.maximumf %[[R]]#1
  // CHECK: %[[LOSS:.*]] = arith.divf %[[R]]#0, %[[COUNT]]
  // CHECK: %[[COUNTS:.*]] = ds.broadcast %[[COUNT]]
  // CHECK: %[[GRADIENT:.*]] = arith.divf %[[R]]#2, %[[COUNTS]]
  // CHECK: return %[[LOSS]], %[[GRADIENT]] :
  // ONE: arith.divf
  // ONE: arith.divf
  return %loss, %count, %0 : tensor<f32>, tensor<f32>, tensor<2xf32>
}
