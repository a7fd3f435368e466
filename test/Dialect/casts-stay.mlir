// RUN: ds-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

!flat = tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @fenced_duplicates
// CHECK-SAME:  (%[[S:.*]]: tensor
func.func @fenced_duplicates(%s: !flat) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = ds.all_gather %[[S]] over "dp"
  // CHECK-NEXT: %[[F:.*]] = ds.fence %[[S]] id 0
  // CHECK-NEXT: %[[B:.*]] = ds.all_gather %[[F]] over "dp"
  // CHECK-NEXT: return %[[A]], %[[B]]
  %a = ds.all_gather %s over "dp" : !flat -> tensor<8xf32>
  %f = ds.fence %s id 0 : !flat
  %b = ds.all_gather %f over "dp" : !flat -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @two_fences
func.func @two_fences(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: ds.fence {{.*}} id 0
  // CHECK: math.exp
  // CHECK: ds.fence {{.*}} id 1
  // CHECK: math.exp
  %f = ds.fence %x id 0 : tensor<8xf32>
  %a = math.exp %f : tensor<8xf32>
  %g = ds.fence %x id 1 : tensor<8xf32>
  %b = math.exp %g : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @round_trips
func.func @round_trips(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: ds.take_shard
  // CHECK-NEXT: ds.all_gather
  // CHECK-NEXT: ds.copy
  // CHECK-NEXT: ds.copy
  // CHECK-NEXT: return
  %s = ds.take_shard %x over "dp" : tensor<8xf32> -> !flat
  %w = ds.all_gather %s over "dp" : !flat -> tensor<8xf32>
  %h = ds.copy %w : tensor<8xf32> -> tensor<8xf32, #ds.layout<[{}], memory = host>>
  %d = ds.copy %h : tensor<8xf32, #ds.layout<[{}], memory = host>> -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// CHECK-LABEL: func.func @casts_in_the_loop_over_micro_batches
func.func @casts_in_the_loop_over_micro_batches(%s: !flat, %n: index) -> tensor<8xf32> {
  // CHECK: scf.for
  // CHECK: ds.all_gather
  // CHECK: scf.yield
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> tensor<8xf32> {
    %w = ds.all_gather %s over "dp" : !flat -> tensor<8xf32>
    %b = arith.addf %a, %w : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @starts_and_waits
func.func @starts_and_waits(%x: !partial, %m: index, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[T:.*]] = ds.start
  // CHECK-NEXT: %[[U:.*]] = ds.start
  // CHECK-NEXT: ds.wait %[[T]]
  // CHECK-NEXT: ds.wait %[[U]]
  // CHECK:      scf.for
  // CHECK-NEXT: ds.start
  // CHECK-NEXT: ds.wait
  %t = ds.start all_reduce %x over "dp" : !partial -> [tensor<8xf32>]
  %u = ds.start all_reduce %x over "dp" : !partial -> [tensor<8xf32>]
  %a = ds.wait %t, %x : !partial -> tensor<8xf32>
  %b = ds.wait %u, %x : !partial -> tensor<8xf32>
  scf.for %i = %m to %n step %n {
    %v = ds.start all_reduce %x over "dp" : !partial -> [tensor<8xf32>]
    %c = ds.wait %v, %x : !partial -> tensor<8xf32>
  }
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// Equal casts that nobody asked to keep apart merge, dead ones go.
// CHECK-LABEL: func.func @plain_duplicates_do_not
func.func @plain_duplicates_do_not(%s: !flat) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = ds.all_gather
  // CHECK-NEXT: return %[[A]], %[[A]]
  %a = ds.all_gather %s over "dp" : !flat -> tensor<8xf32>
  %b = ds.all_gather %s over "dp" : !flat -> tensor<8xf32>
  %c = ds.all_gather %s over "dp" : !flat -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
