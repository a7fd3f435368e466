// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @halves_an_image
func.func @halves_an_image(%a: tensor<2x3x8xf32>) -> tensor<2x3x4xf32> {
  // CHECK: ds.max_pool {{.*}}: (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %0 = ds.max_pool %a {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
