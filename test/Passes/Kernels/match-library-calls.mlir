// RUN: ds-opt %s --ds-match-library-calls --canonicalize --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-match-library-calls -o /dev/null

// CHECK-LABEL: func.func @a_transposed_operand_is_read_in_its_order
// CHECK-SAME:  (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}})
func.func @a_transposed_operand_is_read_in_its_order(%q: tensor<3x8xf32> {ds.name = "q"}, %k: tensor<4x8xf32> {ds.name = "k"}) -> (tensor<3x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]] = ds.matmul %[[Q]], %[[K]] {indices = "ik,jk->ij"}
  // CHECK-NEXT: return %[[Y]]
  %t = ds.transpose %k {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %y = ds.matmul %q, %t {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_permutation_that_is_no_swap
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
func.func @a_permutation_that_is_no_swap(%x: tensor<2x3x4xf32> {ds.name = "x"}, %w: tensor<2x5xf32> {ds.name = "w"}) -> (tensor<3x4x5xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.matmul %[[X]], %[[W]] {indices = "kab,kn->abn"}
  %t = ds.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %y = ds.matmul %t, %w {indices = "abk,kn->abn"} : (tensor<3x4x2xf32>, tensor<2x5xf32>) -> tensor<3x4x5xf32>
  return %y : tensor<3x4x5xf32>
}

// CHECK-LABEL: func.func @a_transposed_result_is_written_in_its_order
func.func @a_transposed_result_is_written_in_its_order(%x: tensor<3x8xf32> {ds.name = "x"}, %w: tensor<8x4xf32> {ds.name = "w"}) -> (tensor<4x3xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.matmul {{.*}} {indices = "ik,kj->ji"} : {{.*}} -> tensor<4x3xf32>
  // CHECK-NEXT: return
  %m = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = ds.transpose %m {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @a_transpose_of_a_transpose_is_one
func.func @a_transpose_of_a_transpose_is_one(%x: tensor<2x3x4xf32> {ds.name = "x"}) -> (tensor<4x3x2xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.transpose %{{.*}} {permutation = array<i64: 2, 1, 0>}
  // CHECK-NEXT: return
  %a = ds.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %y = ds.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<3x2x4xf32>) -> tensor<4x3x2xf32>
  return %y : tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @leaves_a_result_with_other_users_alone
func.func @leaves_a_result_with_other_users_alone(%x: tensor<3x8xf32> {ds.name = "x"}, %w: tensor<8x4xf32> {ds.name = "w"}) -> (tensor<4x3xf32> {ds.name = "y"}, tensor<3x4xf32> {ds.name = "z"}) {
  // CHECK-NEXT: %[[M:.*]] = ds.matmul {{.*}} {indices = "ik,kj->ij"}
  // CHECK-NEXT: ds.transpose %[[M]]
  %m = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = ds.transpose %m {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %y, %m : tensor<4x3xf32>, tensor<3x4xf32>
}
