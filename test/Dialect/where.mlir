// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @selects_between_partials
func.func @selects_between_partials(%x: tensor<8x4xi1>, %y: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>, %z: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>> {
  // CHECK: ds.where {{.*}}: tensor<8x4xi1>, tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
  %0 = ds.where %x, %y, %z : tensor<8x4xi1>, tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>, tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
}
