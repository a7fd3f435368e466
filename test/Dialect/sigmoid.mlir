// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @is_elementwise
func.func @is_elementwise(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.sigmoid {{.*}}: (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = ds.sigmoid %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
