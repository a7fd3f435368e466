// RUN: ds-opt %s --ds-stream-results=min-bytes=128 | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-stream-results=min-bytes=128 -o /dev/null

ds.mesh @mesh <dp = 2>
ds.variable @w {role = #ds.role<parameter>} : tensor<8x4xf32>

// CHECK-LABEL: func.func @large_results_are_streamed
// CHECK: ds.kernel(%{{.*}}) attributes {streamed = array<i64: 1>}
func.func @large_results_are_streamed(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8xf32> {ds.name = "s"}, tensor<8x4xf32> {ds.name = "y"}) {
  %0:2 = ds.kernel(%x) : (tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
    ds.yield %s, %e : tensor<8xf32>, tensor<8x4xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8x4xf32>
}

// The second kernel writes where the first one wrote.
// CHECK-LABEL: func.func @leaves_a_result_alone_that_takes_an_inputs_place
// CHECK: ds.kernel(%{{.*}}) attributes {streamed = array<i64: 0>}
// CHECK: ds.kernel(%{{.*}}) :
func.func @leaves_a_result_alone_that_takes_an_inputs_place(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  %0 = ds.kernel(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    ds.yield %e : tensor<8x4xf32>
  }
  %1 = ds.kernel(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    ds.yield %e : tensor<8x4xf32>
  }
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @leaves_an_update_in_place_alone
// CHECK: ds.kernel(%{{.*}}) :
func.func @leaves_an_update_in_place_alone() {
  %0 = ds.read @w : tensor<8x4xf32>
  %1 = ds.kernel(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    ds.yield %e : tensor<8x4xf32>
  }
  ds.assign @w, %1 : tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @large_rotations_are_streamed
// CHECK: ds.rotary_embedding %{{.*}} {streamed}
func.func @large_rotations_are_streamed(%x: tensor<8x4xf32> {ds.name = "x"}, %c: tensor<8x2xf32> {ds.name = "c"}, %s: tensor<8x2xf32> {ds.name = "s"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  %y = ds.rotary_embedding %x, %c, %s : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// What one rank has of it is small.
// CHECK-LABEL: func.func @leaves_shards_alone
// CHECK: ds.kernel(%{{.*}}) :
func.func @leaves_shards_alone(%x: tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "x"}) -> (tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {ds.name = "y"}) {
  %0 = ds.kernel(%x) : (tensor<8x4xf32, #ds.layout<[{dp}, {}]>>) -> tensor<8x4xf32, #ds.layout<[{dp}, {}]>> {
  ^bb0(%a: tensor<8x4xf32, #ds.layout<[{dp}, {}]>>):
    %e = math.exp %a : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
    ds.yield %e : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
  }
  return %0 : tensor<8x4xf32, #ds.layout<[{dp}, {}]>>
}

// The exponentials stay in the result's rows until their sum is known.
// CHECK-LABEL: func.func @leaves_rows_alone_that_keep_values
// CHECK: ds.kernel(%{{.*}}) :
func.func @leaves_rows_alone_that_keep_values(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  %0 = ds.kernel(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
    %b = ds.broadcast %s {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x4xf32>
    %d = arith.mulf %e, %b : tensor<8x4xf32>
    ds.yield %d : tensor<8x4xf32>
  }
  return %0 : tensor<8x4xf32>
}
