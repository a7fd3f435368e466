// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @removes_an_axis
func.func @removes_an_axis(%x: tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>) -> tensor<8x4xf32> {
  // CHECK: ds.all_gather {{.*}}: tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>> -> tensor<8x4xf32>
  %0 = ds.all_gather %x over "dp" : tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
