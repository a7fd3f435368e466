// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @unknown_variable(%x: tensor<8xf32>) {
  // expected-error @below {{'ds.assign' op refers to unknown variable @w}}
  ds.assign @w, %x : tensor<8xf32>
  return
}

// -----

// expected-note @below {{declared here}}
ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32>
// C2
func.func @another_type(%x: tensor<8xf64>) {
  // expected-error @below {{'ds.assign' op must have the variable's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  ds.assign @w, %x : tensor<8xf64>
  return
}
