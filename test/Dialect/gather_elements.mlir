// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @takes_one_element_per_id
func.func @takes_one_element_per_id(%a: tensor<8x4xf32>, %b: tensor<8x2xi64>) -> tensor<8x2xf32> {
  // CHECK: ds.gather_elements {{.*}}: (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
  %0 = ds.gather_elements %a, %b {dim = 1 : i64} : (tensor<8x4xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
