// RUN: ds-opt %s --pass-pipeline='builtin.module(ds-attach-optimizer{kind=adamw},ds-verify-program)' | FileCheck %s

// Variables of the model that are called like ours do not meet ours: these get other symbols, and keep their names.
// CHECK-DAG: ds.variable @w {role = #ds.role<parameter>}
// CHECK-DAG: ds.variable @w.exp_avg {role = #ds.role<parameter>}
// CHECK-DAG: ds.variable @ds.w.exp_avg {ds.name = "w.exp_avg", role = #ds.role<optimizer>}
// CHECK-DAG: ds.variable @ds.model.step {ds.name = "step", role = #ds.role<parameter>}
// CHECK-DAG: ds.variable @step.exp_avg {role = #ds.role<optimizer>}
ds.variable @w {role = #ds.role<parameter>} : tensor<f32>
ds.variable @w.exp_avg {role = #ds.role<parameter>} : tensor<f32>
ds.variable @ds.model.step {ds.name = "step", role = #ds.role<parameter>} : tensor<f32>

// CHECK-LABEL: func.func @step(
// CHECK-SAME:  %[[THEIRS:[a-z0-9]*]]: tensor<f32> {ds.name = "learning_rate"}, %[[OURS:[a-z0-9]*]]: tensor<f32> {ds.name = "ds.learning_rate"})
// CHECK:       %{{.*}}, %[[M:.*]], %{{.*}} = ds.adam_update %{{.*}}, %[[THEIRS]], %{{.*}}, %{{.*}}, %[[OURS]],
// CHECK:       ds.assign @ds.w.exp_avg, %[[M]]
func.func @step(%l: tensor<f32> {ds.name = "learning_rate"}) -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.gradient = @w}, tensor<f32> {ds.gradient = @ds.model.step}) {
  return %l, %l, %l : tensor<f32>, tensor<f32>, tensor<f32>
}
