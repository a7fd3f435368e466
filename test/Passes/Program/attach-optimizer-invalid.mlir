// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-attach-optimizer)'

ds.variable @w {role = #ds.role<parameter>} : tensor<f32>
ds.variable @w.exp_avg {role = #ds.role<parameter>} : tensor<f32>
// expected-error @below {{needs a variable of its own named @w.exp_avg, got another of that name}}
func.func @step(%l: tensor<f32> {ds.name = "l"}) -> (tensor<f32> {ds.name = "loss"}, tensor<f32> {ds.gradient = @w}) {
  return %l, %l : tensor<f32>, tensor<f32>
}
