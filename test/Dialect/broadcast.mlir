// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @repeats_along_new_dims
func.func @repeats_along_new_dims(%a: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.broadcast {{.*}}: (tensor<4xf32>) -> tensor<8x4xf32>
  %0 = ds.broadcast %a {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
