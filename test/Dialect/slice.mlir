// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @steps_backwards
func.func @steps_backwards(%a: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // CHECK: ds.slice {{.*}}: (tensor<8x4xf32>) -> tensor<3x4xf32>
  %0 = ds.slice %a {offsets = array<i64: 6, 0>, strides = array<i64: -2, 1>} : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
