// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @counts_along_one_dim
func.func @counts_along_one_dim() -> tensor<8x4xi64> {
  // CHECK: ds.iota {{.*}}: () -> tensor<8x4xi64>
  %0 = ds.iota {dim = 1 : i64} : () -> tensor<8x4xi64>
  return %0 : tensor<8x4xi64>
}
