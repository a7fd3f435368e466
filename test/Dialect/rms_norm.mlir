// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @norms_the_last_dim
func.func @norms_the_last_dim(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.rms_norm {{.*}}: (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %0 = ds.rms_norm %a, %b {epsilon = 1.000000e-05 : f64} : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
