// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @moves_an_axis
func.func @moves_an_axis(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{}, {dp}]>> {
  // CHECK: ds.all_to_all {{.*}}: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {dp}]>>
  %0 = ds.all_to_all %x over "dp" : tensor<8x4xf32, #ds.layout<[{dp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {dp}]>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {dp}]>>
}
