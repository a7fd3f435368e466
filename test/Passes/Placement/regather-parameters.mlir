// RUN: ds-opt %s --ds-regather-parameters=distance=2 | FileCheck %s
// RUN: ds-opt %s --ds-regather-parameters=distance=2 --canonicalize --cse --loop-invariant-code-motion --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --ds-regather-parameters | FileCheck %s --check-prefix=NEAR

ds.mesh @mesh <dp = 2, tp = 2>
ds.variable @w {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
ds.variable @v {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{tp}], flat = {dp}>>
ds.variable @m {role = #ds.role<optimizer>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>

// CHECK-LABEL: func.func @gathers_again_for_a_far_use
// NEAR-LABEL:  func.func @gathers_again_for_a_far_use
func.func @gathers_again_for_a_far_use(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[S:.*]] = ds.read @w
  // CHECK: %[[W:.*]] = ds.all_gather %[[S]] over "dp"
  // CHECK: %[[A:.*]] = arith.addf %{{.*}}, %[[W]]
  // CHECK: %[[F:.*]] = ds.fence %[[S]] id 0
  // CHECK: %[[W2:.*]] = ds.all_gather %[[F]] over "dp"
  // CHECK: arith.addf %{{.*}}, %[[W2]]
  // NEAR:     ds.all_gather
  // NEAR-NOT: ds.fence
  // NEAR:     return
  %s = ds.read @w : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  %w = ds.all_gather %s over "dp" : tensor<8xf32, #ds.layout<[{}], flat = {dp}>> -> tensor<8xf32>
  %a = arith.addf %x, %w : tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  %c = math.exp %b : tensor<8xf32>
  %d = math.exp %c : tensor<8xf32>
  %e = arith.addf %d, %w : tensor<8xf32>
  return %e : tensor<8xf32>
}

// CHECK-LABEL: func.func @repeats_the_whole_chain
func.func @repeats_the_whole_chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[S:.*]] = ds.read @v
  // CHECK: ds.fence %[[S]]
  // CHECK: ds.all_gather %{{.*}} over "dp"
  // CHECK: ds.all_gather %{{.*}} over "tp"
  // CHECK: return
  %s = ds.read @v : tensor<8xf32, #ds.layout<[{tp}], flat = {dp}>>
  %t = ds.all_gather %s over "dp" : tensor<8xf32, #ds.layout<[{tp}], flat = {dp}>> -> tensor<8xf32, #ds.layout<[{tp}]>>
  %w = ds.all_gather %t over "tp" : tensor<8xf32, #ds.layout<[{tp}]>> -> tensor<8xf32>
  %a = arith.addf %x, %w : tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  %c = math.exp %b : tensor<8xf32>
  %d = math.exp %c : tensor<8xf32>
  %e = arith.addf %d, %w : tensor<8xf32>
  return %e : tensor<8xf32>
}

// CHECK-LABEL: func.func @leaves_near_uses_and_what_is_no_parameter_alone
func.func @leaves_near_uses_and_what_is_no_parameter_alone(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: ds.fence
  // CHECK:     return
  %s = ds.read @w : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  %n = ds.read @m : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  %w = ds.all_gather %s over "dp" : tensor<8xf32, #ds.layout<[{}], flat = {dp}>> -> tensor<8xf32>
  %m = ds.all_gather %n over "dp" : tensor<8xf32, #ds.layout<[{}], flat = {dp}>> -> tensor<8xf32>
  %a = arith.addf %m, %w : tensor<8xf32>
  %b = arith.mulf %a, %w : tensor<8xf32>
  %c = math.exp %b : tensor<8xf32>
  %d = math.exp %c : tensor<8xf32>
  %e = arith.addf %d, %m : tensor<8xf32>
  return %e : tensor<8xf32>
}
