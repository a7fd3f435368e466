// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>

// CHECK-LABEL: func.func @gives_the_layout_of_the_variable
func.func @gives_the_layout_of_the_variable() -> tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {
  // CHECK: ds.read @w : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  %0 = ds.read @w : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  return %0 : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
}
