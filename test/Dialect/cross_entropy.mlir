// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_one_loss_per_row
func.func @gives_one_loss_per_row(%a: tensor<2x3x5xf32>, %b: tensor<2x3xi64>) -> tensor<2x3xf32> {
  // CHECK: ds.cross_entropy {{.*}}: (tensor<2x3x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  %0 = ds.cross_entropy %a, %b {ignore_index = -100 : i64} : (tensor<2x3x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
