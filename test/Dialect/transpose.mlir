// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @permutes_dims
func.func @permutes_dims(%a: tensor<2x8x4xf32>) -> tensor<4x2x8xf32> {
  // CHECK: ds.transpose {{.*}}: (tensor<2x8x4xf32>) -> tensor<4x2x8xf32>
  %0 = ds.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<2x8x4xf32>) -> tensor<4x2x8xf32>
  return %0 : tensor<4x2x8xf32>
}
