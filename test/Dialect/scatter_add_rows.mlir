// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @is_the_adjoint_of_gather_rows
func.func @is_the_adjoint_of_gather_rows(%a: tensor<2x3xi64>, %b: tensor<2x3x4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.scatter_add_rows {{.*}}: (tensor<2x3xi64>, tensor<2x3x4xf32>) -> tensor<8x4xf32>
  %0 = ds.scatter_add_rows %a, %b : (tensor<2x3xi64>, tensor<2x3x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
