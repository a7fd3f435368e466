// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @removes_a_partial_axis
func.func @removes_a_partial_axis(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<8x4xf32> {
  // CHECK: ds.all_reduce {{.*}}: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32>
  %0 = ds.all_reduce %x over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
