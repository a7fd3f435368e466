// RUN: ds-opt %s --verify-diagnostics

// C1
func.func @outside_of_a_kernel(%x: tensor<8xf32>) {
  // expected-error @below {{'ds.yield' op expects parent op 'ds.kernel'}}
  ds.yield %x : tensor<8xf32>
}
