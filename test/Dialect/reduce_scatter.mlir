// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @splits_the_sum
func.func @splits_the_sum(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {
  // CHECK: ds.reduce_scatter {{.*}}: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  %0 = ds.reduce_scatter %x over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}
