// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @spreads_elements
func.func @spreads_elements(%a: tensor<4xf32>) -> tensor<9xf32> {
  // CHECK: ds.pad {{.*}}: (tensor<4xf32>) -> tensor<9xf32>
  %0 = ds.pad %a {interior = array<i64: 1>, low = array<i64: 1>} : (tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
