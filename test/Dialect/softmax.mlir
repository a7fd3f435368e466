// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @runs_along_one_dim
func.func @runs_along_one_dim(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.softmax {{.*}}: (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = ds.softmax %a {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
