// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @norms_the_last_dims
func.func @norms_the_last_dims(%a: tensor<2x8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  // CHECK: ds.layer_norm {{.*}}: (tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<2x8x4xf32>
  %0 = ds.layer_norm %a, %b, %c {epsilon = 1.000000e-05 : f64} : (tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
