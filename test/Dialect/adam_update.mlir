// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @takes_scalars_and_four_tensors
func.func @takes_scalars_and_four_tensors(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>, %d: tensor<8x4xf32>, %e: tensor<f32>, %g: tensor<f32>) -> tensor<8x4xf32> {
  // CHECK: ds.adam_update {{.*}}: (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  %0:3 = ds.adam_update %a, %b, %c, %d, %e, %g {beta1 = 9.000000e-01 : f64, beta2 = 9.990000e-01 : f64, decay = 0.000000e+00 : f64, decoupled, epsilon = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}
