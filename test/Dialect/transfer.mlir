// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @changes_the_place
func.func @changes_the_place(%x: tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 0}>>) -> tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 1}>> {
  // CHECK: ds.transfer {{.*}}: tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 0}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 1}>>
  %0 = ds.transfer %x : tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 0}>> -> tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 1}>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], at = {pp = 1}>>
}
