// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @takes_rows_in_sample_order
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[I:.*]]: index)
func.func @takes_rows_in_sample_order(%x: tensor<16x4xi64, #ds.layout<[(4)(4{dp}), {}]>>, %i: index) -> tensor<4x4xi64, #ds.layout<[{dp}, {}]>> {
  // CHECK: ds.take_part %[[X]][%[[I]]] {parts = 4 : i64} : tensor<16x4xi64, #ds.layout<[(4)(4{dp}), {}]>> -> tensor<4x4xi64, #ds.layout<[{dp}, {}]>>
  %0 = ds.take_part %x[%i] {parts = 4} : tensor<16x4xi64, #ds.layout<[(4)(4{dp}), {}]>> -> tensor<4x4xi64, #ds.layout<[{dp}, {}]>>
  return %0 : tensor<4x4xi64, #ds.layout<[{dp}, {}]>>
}
