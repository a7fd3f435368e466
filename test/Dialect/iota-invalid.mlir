// RUN: ds-opt %s --split-input-file --verify-diagnostics

// C1
func.func @dim_that_is_not_there() -> tensor<8x4xi64> {
  // expected-error @below {{'ds.iota' op dim must be in [0, 2), got 2}}
  %0 = ds.iota {dim = 2 : i64} : () -> tensor<8x4xi64>
  return %0 : tensor<8x4xi64>
}
