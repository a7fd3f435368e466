// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @adds_a_partial_axis
func.func @adds_a_partial_axis(%x: tensor<8x4xf32>) -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> {
  // CHECK: ds.to_partial {{.*}}: tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
  %0 = ds.to_partial %x over "dp" : tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>
}
