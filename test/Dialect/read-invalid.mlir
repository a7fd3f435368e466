// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @unknown_variable() -> tensor<8xf32> {
  // expected-error @below {{'ds.read' op refers to unknown variable @w}}
  %0 = ds.read @w : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-note @below {{declared here}}
ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
// C2
func.func @another_layout() -> tensor<8xf32> {
  // expected-error @below {{'ds.read' op must have the variable's type 'tensor<8xf32, #ds.layout<[{}], flat = {dp}>>', got 'tensor<8xf32>'}}
  %0 = ds.read @w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
