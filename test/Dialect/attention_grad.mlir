// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_three_gradients
func.func @gives_three_gradients(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x5x3xf32>, %d: tensor<2x4x6x3xf32>) -> tensor<2x4x6x8xf32> {
  // CHECK: ds.attention_grad {{.*}}: (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>)
  %0:3 = ds.attention_grad %a, %b, %c, %d {causal, scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>)
  return %0#0 : tensor<2x4x6x8xf32>
}
