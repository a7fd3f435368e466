// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @takes_scalars_and_three_tensors
func.func @takes_scalars_and_three_tensors(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>, %d: tensor<f32>, %e: tensor<f32>) -> tensor<8x4xf32> {
  // CHECK: ds.sgd_update {{.*}}: (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %0:2 = ds.sgd_update %a, %b, %c, %d, %e {dampening = 0.000000e+00 : f64, decay = 0.000000e+00 : f64, momentum = 9.000000e-01 : f64, nesterov} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x4xf32>
}
