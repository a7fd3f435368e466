// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>

// CHECK-LABEL: func.func @a_bucket_of_two
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}})
func.func @a_bucket_of_two(%x: !partial, %y: !partial) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[T:.*]] = ds.start all_reduce %[[X]], %[[Y]] over "dp" {{.*}} -> [tensor<8xf32>, tensor<8xf32>]
  // CHECK: ds.wait %[[T]], %[[X]], %[[Y]]
  %t = ds.start all_reduce %x, %y over "dp" : !partial, !partial -> [tensor<8xf32>, tensor<8xf32>]
  %w:2 = ds.wait %t, %x, %y : !partial, !partial -> tensor<8xf32>, tensor<8xf32>
  return %w#0, %w#1 : tensor<8xf32>, tensor<8xf32>
}
