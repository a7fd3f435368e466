// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_the_shape_of_the_input
func.func @gives_the_shape_of_the_input(%a: tensor<2x3x8xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  // CHECK: ds.max_pool_grad {{.*}}: (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %0 = ds.max_pool_grad %a, %b {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
