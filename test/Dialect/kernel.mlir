// RUN: ds-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @has_several_results
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @has_several_results(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  // CHECK: ds.kernel(%[[X]]) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  // CHECK: ds.yield %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8xf32>
  %0:2 = ds.kernel(%x) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  ^bb0(%a: tensor<8x4xf32>):
    %e = math.exp %a : tensor<8x4xf32>
    %s = ds.reduce %e {dims = array<i64: 1>, kind = #ds.reduction<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
    ds.yield %e, %s : tensor<8x4xf32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @streams_a_result
func.func @streams_a_result(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: ds.kernel(%{{.*}}) attributes {streamed = array<i64: 0>}
  %0 = ds.kernel(%x) attributes {streamed = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = math.exp %a : tensor<8xf32>
    ds.yield %e : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
