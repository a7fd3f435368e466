// RUN: ds-opt %s --verify-roundtrip --ds-verify-layouts | FileCheck %s

ds.mesh @mesh <tp = 2>

// CHECK-LABEL: func.func @a_sum_passes
func.func @a_sum_passes(%a: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>> {
  // CHECK: ds.stop_gradient {{.*}}: (tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  %0 = ds.stop_gradient %a : (tensor<8xf32, #ds.layout<[{}], partial = {tp}>>) -> tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], partial = {tp}>>
}
