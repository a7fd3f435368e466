// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @puts_the_dims_of_the_ids_first
func.func @puts_the_dims_of_the_ids_first(%a: tensor<8x4xf32>, %b: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  // CHECK: ds.gather_rows {{.*}}: (tensor<8x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %0 = ds.gather_rows %a, %b : (tensor<8x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
