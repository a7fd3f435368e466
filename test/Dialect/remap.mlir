// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @changes_dims_and_flat
func.func @changes_dims_and_flat(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>> {
  // CHECK: ds.remap {{.*}}: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>
  %0 = ds.remap %x : tensor<8x4xf32, #ds.layout<[{dp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], flat = {dp}>>
}
