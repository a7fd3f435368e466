// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @changes_the_memory_tier
func.func @changes_the_memory_tier(%x: tensor<8x4xf32>) -> tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>> {
  // CHECK: ds.copy {{.*}}: tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>>
  %0 = ds.copy %x : tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>>
  return %0 : tensor<8x4xf32, #ds.layout<[{}, {}], memory = host>>
}
