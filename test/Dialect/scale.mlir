// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @a_partial_by_a_whole
func.func @a_partial_by_a_whole(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>, %y: tensor<8x4xf32>) -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>> {
  // CHECK: ds.scale {{.*}}: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %0 = ds.scale %x by %y : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
}
