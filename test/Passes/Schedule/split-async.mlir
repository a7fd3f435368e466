// RUN: ds-opt %s --ds-split-async --ds-verify-layouts | FileCheck %s

ds.mesh @mesh <dp = 2, tp = 2>

// CHECK-LABEL: func.func @makes_a_start_and_a_wait_of_each_kind
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @makes_a_start_and_a_wait_of_each_kind(%x: tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp, tp}>>) -> tensor<8x4xf32, #ds.layout<[{}, {tp}]>> {
  // CHECK-NEXT: %[[T:.*]] = ds.start reduce_scatter %[[X]] over "tp"
  // CHECK-NEXT: %[[S:.*]] = ds.wait %[[T]], %[[X]]
  // CHECK-NEXT: %[[U:.*]] = ds.start all_reduce %[[S]] over "dp"
  // CHECK-NEXT: %[[R:.*]] = ds.wait %[[U]], %[[S]]
  // CHECK-NEXT: %[[V:.*]] = ds.start all_to_all %[[R]] over "tp"
  // CHECK-NEXT: %[[A:.*]] = ds.wait %[[V]], %[[R]]
  // CHECK-NEXT: %[[H:.*]] = ds.take_shard %[[A]] over "dp"
  // CHECK-NEXT: %[[W:.*]] = ds.start all_gather %[[H]] over "dp"
  // CHECK-NEXT: %[[G:.*]] = ds.wait %[[W]], %[[H]]
  // CHECK-NEXT: return %[[G]]
  %0 = ds.reduce_scatter %x over "tp" : tensor<8x4xf32, #ds.layout<[{}, {}], partial = {dp, tp}>> -> tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>>
  %1 = ds.all_reduce %0 over "dp" : tensor<8x4xf32, #ds.layout<[{tp}, {}], partial = {dp}>> -> tensor<8x4xf32, #ds.layout<[{tp}, {}]>>
  %2 = ds.all_to_all %1 over "tp" : tensor<8x4xf32, #ds.layout<[{tp}, {}]>> -> tensor<8x4xf32, #ds.layout<[{}, {tp}]>>
  %3 = ds.take_shard %2 over "dp" : tensor<8x4xf32, #ds.layout<[{}, {tp}]>> -> tensor<8x4xf32, #ds.layout<[{dp}, {tp}]>>
  %4 = ds.all_gather %3 over "dp" : tensor<8x4xf32, #ds.layout<[{dp}, {tp}]>> -> tensor<8x4xf32, #ds.layout<[{}, {tp}]>>
  return %4 : tensor<8x4xf32, #ds.layout<[{}, {tp}]>>
}

// CHECK-LABEL: func.func @leaves_casts_that_send_nothing_alone
func.func @leaves_casts_that_send_nothing_alone(%x: tensor<8xf32>) -> tensor<8xf32, #ds.layout<[{tp}], partial = {dp}>> {
  // CHECK-NEXT: ds.take_shard
  // CHECK-NEXT: ds.to_partial
  // CHECK-NEXT: return
  %0 = ds.take_shard %x over "tp" : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{tp}]>>
  %1 = ds.to_partial %0 over "dp" : tensor<8xf32, #ds.layout<[{tp}]>> -> tensor<8xf32, #ds.layout<[{tp}], partial = {dp}>>
  return %1 : tensor<8xf32, #ds.layout<[{tp}], partial = {dp}>>
}
