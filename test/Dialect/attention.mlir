// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @groups_of_queries_share_a_key_head
func.func @groups_of_queries_share_a_key_head(%a: tensor<2x4x6x8xf32>, %b: tensor<2x2x5x8xf32>, %c: tensor<2x2x5x3xf32>, %d: tensor<1x4x1x5xf32>) -> tensor<2x4x6x3xf32> {
  // CHECK: ds.attention {{.*}}: (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<1x4x1x5xf32>) -> tensor<2x4x6x3xf32>
  %0 = ds.attention %a, %b, %c, %d {causal, scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x3xf32>, tensor<1x4x1x5xf32>) -> tensor<2x4x6x3xf32>
  return %0 : tensor<2x4x6x3xf32>
}
