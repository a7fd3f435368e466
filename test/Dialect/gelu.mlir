// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @takes_the_tanh_formula
func.func @takes_the_tanh_formula(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: ds.gelu {{.*}}: (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = ds.gelu %a {kind = #ds.gelu_kind<tanh>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
