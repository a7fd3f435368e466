// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @keeps_the_elements
func.func @keeps_the_elements(%a: tensor<8x4xf32>) -> tensor<2x16xf32> {
  // CHECK: ds.reshape {{.*}}: (tensor<8x4xf32>) -> tensor<2x16xf32>
  %0 = ds.reshape %a : (tensor<8x4xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}
