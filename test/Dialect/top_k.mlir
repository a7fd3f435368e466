// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @gives_values_and_ids
func.func @gives_values_and_ids(%a: tensor<8x4xf32>) -> tensor<8x2xf32> {
  // CHECK: ds.top_k {{.*}}: (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  %0:2 = ds.top_k %a {dim = 1 : i64} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi64>)
  return %0#0 : tensor<8x2xf32>
}
