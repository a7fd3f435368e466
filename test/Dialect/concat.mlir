// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @joins_along_one_dim
func.func @joins_along_one_dim(%a: tensor<8x4xf32>, %b: tensor<8x3xf32>) -> tensor<8x7xf32> {
  // CHECK: ds.concat {{.*}}: (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
  %0 = ds.concat %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
  return %0 : tensor<8x7xf32>
}
