// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @has_a_number_of_its_own
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @has_a_number_of_its_own(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: ds.fence %[[X]] id 3 : tensor<8xf32>
  %0 = ds.fence %x id 3 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
