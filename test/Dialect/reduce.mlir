// RUN: ds-opt %s --verify-roundtrip | FileCheck %s
// RUN: ds-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @folds_dims_away
func.func @folds_dims_away(%a: tensor<2x8x4xf32>) -> tensor<8xf32> {
  // CHECK: ds.reduce {{.*}}: (tensor<2x8x4xf32>) -> tensor<8xf32>
  %0 = ds.reduce %a {dims = array<i64: 0, 2>, kind = #ds.reduction<max>} : (tensor<2x8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// FOLDED-LABEL: func.func @without_dims_it_is_its_input
// FOLDED-SAME:  (%[[A:.*]]: tensor<f32>)
// FOLDED-NEXT:    return %[[A]]
func.func @without_dims_it_is_its_input(%a: tensor<f32>) -> tensor<f32> {
  %0 = ds.reduce %a {dims = array<i64>, kind = #ds.reduction<sum>} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
