// RUN: ds-opt %s --ds-assign-zero=stage=0 | FileCheck %s --check-prefixes=CHECK,STAGE0,ONCE
// RUN: ds-opt %s --ds-assign-zero=stage=1 | FileCheck %s --check-prefixes=CHECK,STAGE1,SHARD,ONCE
// RUN: ds-opt %s --ds-assign-zero=stage=2 | FileCheck %s --check-prefixes=CHECK,STAGE2,SHARD,EACH
// RUN: ds-opt %s --ds-assign-zero=stage=3 | FileCheck %s --check-prefixes=CHECK,STAGE3,SHARD,EACH
// RUN: not ds-opt %s --ds-assign-zero=stage=4 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not ds-opt %s --ds-assign-zero=stage=-1 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not ds-opt %s --ds-assign-zero='stage=1 axis=pp' 2>&1 | FileCheck %s --check-prefix=AXIS

// RANGE: error: ZeRO must have a stage in [0, 3] and an axis of the mesh, got stage 4 over "dp"
// BELOW: error: ZeRO must have a stage in [0, 3] and an axis of the mesh, got stage -1 over "dp"
// AXIS: error: ZeRO must have a stage in [0, 3] and an axis of the mesh, got stage 1 over "pp"
ds.mesh @mesh <dp = 2, tp = 2>

// Parameters are flat in stage 3 alone, frozen ones too; states from stage 1 on, of the shard that tensor parallelism leaves.
// STAGE0-DAG: ds.variable @w {layout = #ds.layout<[{}, {tp}]>, role = #ds.role<parameter>}
// STAGE1-DAG: ds.variable @w {layout = #ds.layout<[{}, {tp}]>, role = #ds.role<parameter>}
// STAGE2-DAG: ds.variable @w {layout = #ds.layout<[{}, {tp}]>, role = #ds.role<parameter>}
// STAGE3-DAG: ds.variable @w {layout = #ds.layout<[{}, {tp}], flat = {dp}>, role = #ds.role<parameter>}
ds.variable @w {role = #ds.role<parameter>, layout = #ds.layout<[{}, {tp}]>} : tensor<4x6xf32>
// STAGE0-DAG: ds.variable @w.momentum {layout = #ds.layout<[{}, {tp}]>, role = #ds.role<optimizer>}
// SHARD-DAG:  ds.variable @w.momentum {layout = #ds.layout<[{}, {tp}], flat = {dp}>, role = #ds.role<optimizer>}
ds.variable @w.momentum {role = #ds.role<optimizer>} : tensor<4x6xf32>
// STAGE0-DAG: ds.variable @frozen {frozen, role = #ds.role<parameter>}
// STAGE1-DAG: ds.variable @frozen {frozen, role = #ds.role<parameter>}
// STAGE2-DAG: ds.variable @frozen {frozen, role = #ds.role<parameter>}
// STAGE3-DAG: ds.variable @frozen {frozen, layout = #ds.layout<[{}], flat = {dp}>, role = #ds.role<parameter>}
ds.variable @frozen {role = #ds.role<parameter>, frozen} : tensor<6xf32>
// A scalar cannot be cut, a buffer is no parameter.
// CHECK-DAG: ds.variable @scalar {{[{](layout = #ds.layout<\[\]>, )?}}role = #ds.role<parameter>} : tensor<f32>
ds.variable @scalar {role = #ds.role<parameter>} : tensor<f32>
// CHECK-DAG: ds.variable @statistics {role = #ds.role<buffer>}
ds.variable @statistics {role = #ds.role<buffer>} : tensor<6xf32>

// CHECK-LABEL: func.func @constrains_the_gradient_before_it_is_scaled
func.func @constrains_the_gradient_before_it_is_scaled(%g: tensor<4x6xf32>, %rate: tensor<f32>, %s: tensor<f32>) -> tensor<4x6xf32> {
  %w = ds.read @w : tensor<4x6xf32>
  %m = ds.read @w.momentum : tensor<4x6xf32>
  // CHECK:       %[[G:.*]] = arith.addf
  // STAGE0-NEXT: %[[C:.*]] = ds.constrain %[[G]] to <[{}, {tp}]>
  // SHARD-NEXT:  %[[C:.*]] = ds.constrain %[[G]] to <[{}, {tp}], flat = {dp}>
  // CHECK-NOT:   ds.constrain
  // CHECK:       arith.mulf %[[C]]
  %sum = arith.addf %g, %g : tensor<4x6xf32>
  %b = ds.broadcast %s {dims = array<i64>} : (tensor<f32>) -> tensor<4x6xf32>
  %scaled = arith.mulf %sum, %b : tensor<4x6xf32>
  %new:2 = ds.sgd_update %w, %scaled, %m, %rate, %s {momentum = 0.9 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %new#0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @constrains_what_each_micro_batch_adds_from_stage_2_on
func.func @constrains_what_each_micro_batch_adds_from_stage_2_on(%g: tensor<4x6xf32>, %rate: tensor<f32>, %s: tensor<f32>) -> tensor<4x6xf32> {
  %w = ds.read @w : tensor<4x6xf32>
  %m = ds.read @w.momentum : tensor<4x6xf32>
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK:     scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}})
  // EACH:      %[[D:.*]] = arith.negf
  // EACH-NEXT: %[[P:.*]] = ds.constrain %[[D]] to <[{}, {tp}], flat = {dp}>
  // EACH-NEXT: arith.addf %[[A]], %[[P]]
  // ONCE-NOT:  ds.constrain
  // CHECK:     scf.yield
  // STAGE0:    ds.constrain %{{.*}} to <[{}, {tp}]>
  // SHARD:     ds.constrain %{{.*}} to <[{}, {tp}], flat = {dp}>
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %zero) -> tensor<4x6xf32> {
    %d = arith.negf %g : tensor<4x6xf32>
    %next = arith.addf %a, %d : tensor<4x6xf32>
    scf.yield %next : tensor<4x6xf32>
  }
  %new:2 = ds.sgd_update %w, %sum, %m, %rate, %s {momentum = 0.9 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %new#0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @leaves_a_function_without_updates_alone
func.func @leaves_a_function_without_updates_alone(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NOT: ds.constrain
  // CHECK:     return
  %0 = arith.negf %x : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// The gradient of a product of parameters is a parameter, whose other uses are not constrained.
// STAGE0-DAG: ds.variable @u {layout = #ds.layout<[{}, {}]>, role = #ds.role<parameter>}
// CHECK-LABEL: func.func @a_gradient_that_is_a_parameter_leaves_it_alone
ds.variable @u {role = #ds.role<parameter>, layout = #ds.layout<[{}, {}]>} : tensor<4x6xf32>
ds.variable @v {role = #ds.role<parameter>} : tensor<4x6xf32>
func.func @a_gradient_that_is_a_parameter_leaves_it_alone(%rate: tensor<f32>, %s: tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK-DAG: %[[U:.*]] = ds.read @u
  // CHECK-DAG: %[[V:.*]] = ds.read @v
  %u = ds.read @u : tensor<4x6xf32>
  %v = ds.read @v : tensor<4x6xf32>
  // CHECK-DAG: %[[CU:.*]] = ds.constrain %[[U]] to
  // CHECK-DAG: %[[CV:.*]] = ds.constrain %[[V]] to
  // CHECK: ds.sgd_update %[[U]], %[[CV]], %[[V]],
  // CHECK: ds.sgd_update %[[V]], %[[CU]], %[[U]],
  %0:2 = ds.sgd_update %u, %v, %v, %rate, %s {momentum = 0.0 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  %1:2 = ds.sgd_update %v, %u, %u, %rate, %s {momentum = 0.0 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %0#0, %1#0 : tensor<4x6xf32>, tensor<4x6xf32>
}
