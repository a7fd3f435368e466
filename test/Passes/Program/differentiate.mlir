// RUN: ds-opt %s --split-input-file --pass-pipeline='builtin.module(ds-differentiate{frozen=froz[.]n,frozen})' | FileCheck %s

ds.variable @w {role = #ds.role<parameter>} : tensor<4xf32>
ds.variable @unused {role = #ds.role<parameter>} : tensor<2xf32>
ds.variable @buffer {role = #ds.role<buffer>} : tensor<4xf32>
// CHECK: ds.variable @frozen {frozen
ds.variable @frozen {role = #ds.role<parameter>} : tensor<4xf32>
// CHECK: ds.variable @froz.n {frozen
ds.variable @froz.n {role = #ds.role<parameter>} : tensor<4xf32>

// A value of several uses has the sum of its gradients; buffers, frozen and unused parameters have none.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<4xf32> {ds.gradient = @w})
func.func @forward(%x: tensor<4xf32> {ds.name = "x"}) -> (tensor<f32> {ds.name = "loss"}) {
  // CHECK: %[[W:.*]] = ds.read @w
  %w = ds.read @w : tensor<4xf32>
  %b = ds.read @buffer : tensor<4xf32>
  // CHECK: %[[F:.*]] = ds.read @frozen
  %f = ds.read @frozen : tensor<4xf32>
  %g = ds.read @froz.n : tensor<4xf32>
  %0 = arith.mulf %w, %f : tensor<4xf32>
  // CHECK: %[[E:.*]] = math.exp %[[W]]
  %1 = math.exp %w : tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  %3 = arith.subf %2, %b : tensor<4xf32>
  // CHECK: %[[LOSS:.*]] = ds.reduce
  %loss = ds.reduce %3 {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<4xf32>) -> tensor<f32>
  %4 = arith.addf %b, %x : tensor<4xf32>
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[G:.*]] = ds.broadcast %[[ONE]]
  // CHECK: %[[GE:.*]] = arith.mulf %[[G]], %[[E]]
  // CHECK: %[[GF:.*]] = arith.mulf %[[G]], %[[F]]
  // CHECK-NOT: arith.mulf
  // CHECK: %[[GW:.*]] = arith.addf %[[GE]], %[[GF]]
  // CHECK: ds.assign @buffer
  ds.assign @buffer, %4 : tensor<4xf32>
  // CHECK: return %[[LOSS]], %[[GW]] :
  return %loss : tensor<f32>
}

// -----

ds.variable @frozen {role = #ds.role<parameter>} : tensor<f32>
ds.variable @froz.n {role = #ds.role<parameter>} : tensor<f32>
ds.variable @tied {role = #ds.role<parameter>} : tensor<8x4xf32>

// A tied parameter has one gradient; ids have none.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[IDS:.*]]: tensor<2xi64>
func.func @forward(%ids: tensor<2xi64> {ds.name = "ids"}) -> (tensor<f32> {ds.name = "loss"}) {
  %w = ds.read @tied : tensor<8x4xf32>
  // CHECK: %[[X:.*]] = ds.gather_rows
  %x = ds.gather_rows %w, %ids : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %y = ds.matmul %x, %w {indices = "bd,vd->bv"} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  // CHECK: %[[G:.*]] = ds.broadcast %{{.*}} : (tensor<f32>) -> tensor<2x8xf32>
  %loss = ds.reduce %y {dims = array<i64: 0, 1>, kind = #ds.reduction<sum>} : (tensor<2x8xf32>) -> tensor<f32>
  // CHECK: %[[GX:.*]] = ds.matmul %[[G]], %{{.*}} {indices = "bv,vd->bd"}
  // CHECK: %[[OUT:.*]] = ds.matmul %[[X]], %[[G]] {indices = "bd,bv->vd"}
  // CHECK: %[[IN:.*]] = ds.scatter_add_rows %[[IDS]], %[[GX]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[OUT]], %[[IN]]
  // CHECK: return %{{.*}}, %[[SUM]]
  return %loss : tensor<f32>
}

// -----

ds.variable @frozen {role = #ds.role<parameter>} : tensor<f32>
ds.variable @froz.n {role = #ds.role<parameter>} : tensor<f32>
ds.variable @w {role = #ds.role<parameter>} : tensor<f32>

// A stopped gradient is zero; the value stays.
// CHECK-LABEL: func.func @step(
func.func @forward() -> (tensor<f32> {ds.name = "loss"}) {
  // CHECK: %[[W:.*]] = ds.read @w
  // CHECK: %[[E:.*]] = math.exp %[[W]]
  // CHECK: %[[LOSS:.*]] = arith.mulf %[[W]], %[[E]]
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[G:.*]] = arith.mulf %[[ONE]], %[[E]]
  // CHECK: return %[[LOSS]], %[[G]]
  %w = ds.read @w : tensor<f32>
  %e = math.exp %w : tensor<f32>
  %s = ds.stop_gradient %e : (tensor<f32>) -> tensor<f32>
  %y = arith.mulf %w, %s : tensor<f32>
  return %y : tensor<f32>
}

// -----

ds.variable @frozen {role = #ds.role<parameter>} : tensor<f32>
ds.variable @froz.n {role = #ds.role<parameter>} : tensor<f32>
ds.variable @w {role = #ds.role<parameter>} : tensor<f32>

// An integer ends a path: no rule is asked for, there is no gradient.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"})
func.func @forward() -> (tensor<f32> {ds.name = "loss"}) {
  %w = ds.read @w : tensor<f32>
  %i = arith.fptosi %w : tensor<f32> to tensor<i32>
  %y = arith.sitofp %i : tensor<i32> to tensor<f32>
  return %y : tensor<f32>
}

// -----

ds.variable @frozen {role = #ds.role<parameter>} : tensor<f32>
ds.variable @froz.n {role = #ds.role<parameter>} : tensor<f32>
ds.variable @w {role = #ds.role<parameter>} : tensor<f32>

// A float that is the same everywhere nearby does not: PyTorch has a gradient of zeros there too, and decays.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.gradient = @w})
func.func @forward() -> (tensor<f32> {ds.name = "loss"}) {
  %w = ds.read @w : tensor<f32>
  %y = math.floor %w : tensor<f32>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
  // CHECK: return %{{.*}}, %[[ZERO]]
  return %y : tensor<f32>
}

// -----

ds.variable @frozen {role = #ds.role<parameter>} : tensor<f32>
ds.variable @froz.n {role = #ds.role<parameter>} : tensor<f32>
// CHECK: ds.variable @ds.model.w {ds.name = "w"
ds.variable @ds.model.w {ds.name = "w", role = #ds.role<parameter>} : tensor<f32>

// The number of labels stays beside the loss.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:  -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.name = "ds.label_count"}, tensor<f32> {ds.gradient = @ds.model.w})
func.func @forward(%n: tensor<f32> {ds.name = "n"}) -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.name = "ds.label_count"}) {
  %w = ds.read @ds.model.w : tensor<f32>
  return %w, %n : tensor<f32>, tensor<f32>
}
