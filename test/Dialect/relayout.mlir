// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @changes_everything
func.func @changes_everything(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {tp}, memory = host>> {
  // CHECK: ds.relayout {{.*}}: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {tp}, memory = host>>
  %0 = ds.relayout %x : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], flat = {tp}, memory = host>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], flat = {tp}, memory = host>>
}
