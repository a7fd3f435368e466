// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @rotates_halves
func.func @rotates_halves(%a: tensor<2x6x8xf32>, %b: tensor<6x4xf32>, %c: tensor<6x4xf32>) -> tensor<2x6x8xf32> {
  // CHECK: ds.rotary_embedding {{.*}}: (tensor<2x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x8xf32>
  %0 = ds.rotary_embedding %a, %b, %c : (tensor<2x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}

// CHECK-LABEL: func.func @positions_may_stand_further_out
// CHECK: ds.rotary_embedding
// CHECK-SAME: position_dim = 1
func.func @positions_may_stand_further_out(%x: tensor<2x6x4x8xf32>, %c: tensor<6x4xf32>) -> tensor<2x6x4x8xf32> {
  %0 = ds.rotary_embedding %x, %c, %c {position_dim = 1 : i64} : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
  return %0 : tensor<2x6x4x8xf32>
}
