// RUN: ds-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(ds-predict-times{machine=quantum}))'

// expected-error @below {{a machine must be the preset "cpu" or a file, got "quantum"}}
func.func @step() {
  return
}
