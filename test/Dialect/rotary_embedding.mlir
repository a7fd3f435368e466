// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @rotates_halves
func.func @rotates_halves(%a: tensor<2x6x8xf32>, %b: tensor<6x4xf32>, %c: tensor<6x4xf32>) -> tensor<2x6x8xf32> {
  // CHECK: ds.rotary_embedding {{.*}}: (tensor<2x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x8xf32>
  %0 = ds.rotary_embedding %a, %b, %c : (tensor<2x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}

// CHECK-LABEL: func.func @positions_may_stand_further_out
// CHECK: ds.rotary_embedding
// CHECK-SAME: dims = array<i64: 1>
func.func @positions_may_stand_further_out(%x: tensor<2x6x4x8xf32>, %c: tensor<6x4xf32>) -> tensor<2x6x4x8xf32> {
  %0 = ds.rotary_embedding %x, %c, %c {dims = array<i64: 1>} : (tensor<2x6x4x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x6x4x8xf32>
  return %0 : tensor<2x6x4x8xf32>
}

// CHECK-LABEL: func.func @halves_may_have_angles_of_their_own
func.func @halves_may_have_angles_of_their_own(%x: tensor<2x6x8xf32>, %c: tensor<6x8xf32>) -> tensor<2x6x8xf32> {
  // CHECK: ds.rotary_embedding {{.*}}: (tensor<2x6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<2x6x8xf32>
  %0 = ds.rotary_embedding %x, %c, %c : (tensor<2x6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<2x6x8xf32>
  return %0 : tensor<2x6x8xf32>
}

// CHECK-LABEL: func.func @tables_may_have_any_of_the_dims
func.func @tables_may_have_any_of_the_dims(%x: tensor<2x6x4x8xf32>, %row: tensor<8xf32>, %outer: tensor<2x4x4xf32>) -> tensor<2x6x4x8xf32> {
  // CHECK: ds.rotary_embedding {{.*}}: (tensor<2x6x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: ds.rotary_embedding {{.*}} {dims = array<i64: 0, 2>} : (tensor<2x6x4x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>)
  %0 = ds.rotary_embedding %x, %row, %row : (tensor<2x6x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x6x4x8xf32>
  %1 = ds.rotary_embedding %0, %outer, %outer {dims = array<i64: 0, 2>}
      : (tensor<2x6x4x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x6x4x8xf32>
  return %1 : tensor<2x6x4x8xf32>
}
