// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_a_gradient_per_class
func.func @gives_a_gradient_per_class(%a: tensor<3x5xf32>, %b: tensor<3xi64>, %c: tensor<3xf32>) -> tensor<3x5xf32> {
  // CHECK: ds.cross_entropy_grad {{.*}}: (tensor<3x5xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3x5xf32>
  %0 = ds.cross_entropy_grad %a, %b, %c {ignore_index = -100 : i64} : (tensor<3x5xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
