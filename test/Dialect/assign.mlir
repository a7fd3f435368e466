// RUN: ds-opt %s --verify-roundtrip | FileCheck %s
// RUN: ds-opt %s --canonicalize --cse | FileCheck %s

ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32>

// CHECK-LABEL: func.func @is_an_effect_that_stays
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @is_an_effect_that_stays(%x: tensor<8xf32>) {
  // CHECK-NEXT: ds.assign @w, %[[X]] : tensor<8xf32>
  ds.assign @w, %x : tensor<8xf32>
  return
}
