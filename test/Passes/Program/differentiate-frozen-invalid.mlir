// RUN: ds-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ds-differentiate{frozen=head[.].*})'

// expected-error @below {{"model.frozen" must match whole names, got "head[.].*", which matches none of the 1 there are like "w"}}
module {
  ds.variable @w {role = #ds.role<parameter>} : tensor<f32>
  ds.variable @head.mean {role = #ds.role<buffer>} : tensor<f32>
}
