// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @folds_dims_away
func.func @folds_dims_away(%a: tensor<2x8x4xf32>) -> tensor<8xf32> {
  // CHECK: ds.reduce {{.*}}: (tensor<2x8x4xf32>) -> tensor<8xf32>
  %0 = ds.reduce %a {dims = array<i64: 0, 2>, kind = #ds.reduction<max>} : (tensor<2x8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
