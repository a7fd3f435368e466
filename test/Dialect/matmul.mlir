// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @contracts_and_batches
func.func @contracts_and_batches(%a: tensor<2x3x8xf32>, %b: tensor<2x8x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: ds.matmul {{.*}}: (tensor<2x3x8xf32>, tensor<2x8x5xf32>) -> tensor<2x3x5xf32>
  %0 = ds.matmul %a, %b {indices = "bik,bkj->bij"} : (tensor<2x3x8xf32>, tensor<2x8x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}
