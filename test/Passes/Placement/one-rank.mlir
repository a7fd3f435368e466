// RUN: ds-opt %s --ds-assign-data-parallel --ds-assign-zero=stage=3 --ds-propagate-layouts --ds-expand-relayouts | FileCheck %s

// An axis of one rank splits nothing: there are no casts, whose collectives would be copies.
ds.mesh @mesh <dp = 1>

// CHECK-DAG: ds.variable @w {{.*}} : tensor<4x6xf32>
ds.variable @w {role = #ds.role<parameter>} : tensor<4x6xf32>
// CHECK-DAG: ds.variable @w.momentum {{.*}} : tensor<4x6xf32>
ds.variable @w.momentum {role = #ds.role<optimizer>} : tensor<4x6xf32>

// CHECK-LABEL: func.func @step
// CHECK-NOT:   ds.all_gather
// CHECK-NOT:   ds.reduce_scatter
// CHECK-NOT:   ds.take_shard
// CHECK:       return
func.func @step(%x: tensor<8x4xf32> {ds.name = "x"}, %g: tensor<8x6xf32> {ds.name = "g"}, %r: tensor<f32> {ds.name = "ds.learning_rate"}, %t: tensor<f32> {ds.name = "t"}) {
  %w = ds.read @w : tensor<4x6xf32>
  %m = ds.read @w.momentum : tensor<4x6xf32>
  %d = ds.matmul %x, %g {indices = "bk,bn->kn"} : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %n:2 = ds.sgd_update %w, %d, %m, %r, %t {momentum = 0.875 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  ds.assign @w, %n#0 : tensor<4x6xf32>
  ds.assign @w.momentum, %n#1 : tensor<4x6xf32>
  return
}
