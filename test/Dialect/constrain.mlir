// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @asks_for_a_layout
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @asks_for_a_layout(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK: ds.constrain %[[X]] to <[{dp}, {}]> : tensor<8x64xf32>
  %0 = ds.constrain %x to <[{dp}, {}]> : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
