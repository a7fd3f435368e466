// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @appends_an_axis
func.func @appends_an_axis(%x: tensor<8x4xf32, #ds.layout<[{tp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>> {
  // CHECK: ds.take_shard {{.*}}: tensor<8x4xf32, #ds.layout<[{tp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>>
  %0 = ds.take_shard %x over "dp" : tensor<8x4xf32, #ds.layout<[{tp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{tp, dp}, {}]>>
}
