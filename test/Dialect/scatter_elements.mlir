// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @is_the_adjoint_of_gather_elements
func.func @is_the_adjoint_of_gather_elements(%a: tensor<8x2xi64>, %b: tensor<8x2xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.scatter_elements {{.*}}: (tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<8x4xf32>
  %0 = ds.scatter_elements %a, %b {dim = 1 : i64} : (tensor<8x2xi64>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
