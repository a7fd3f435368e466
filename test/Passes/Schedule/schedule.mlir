// RUN: ds-opt %s --ds-split-async --ds-schedule --ds-verify-layouts | FileCheck %s

!whole = tensor<8xf32>
!flat = tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
ds.mesh @mesh <dp = 2>
ds.variable @a {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
ds.variable @b {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>

// CHECK-LABEL: func.func @a_reduction_runs_while_the_rest_goes_on
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}})
func.func @a_reduction_runs_while_the_rest_goes_on(%x: !partial, %y: !whole) -> !whole {
  // CHECK-NEXT: %[[T:.*]] = ds.start all_reduce %[[X]]
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: %[[S:.*]] = math.sin
  // CHECK-NEXT: %[[W:.*]] = ds.wait %[[T]], %[[X]]
  // CHECK-NEXT: arith.addf %[[W]], %[[S]]
  %0 = ds.all_reduce %x over "dp" : !partial -> !whole
  %1 = math.exp %y : !whole
  %2 = math.sin %1 : !whole
  %3 = arith.addf %0, %2 : !whole
  return %3 : !whole
}

// CHECK-LABEL: func.func @the_next_gather_starts_before_the_wait_of_the_one_before_it
func.func @the_next_gather_starts_before_the_wait_of_the_one_before_it(%x: !whole) -> !whole {
  // CHECK:      %[[A:.*]] = ds.read @a
  // CHECK:      %[[B:.*]] = ds.read @b
  // CHECK:      %[[TA:.*]] = ds.start all_gather %[[A]]
  // CHECK:      %[[F:.*]] = ds.fence %[[B]] id 0
  // CHECK-NEXT: %[[TB:.*]] = ds.start all_gather %[[F]]
  // CHECK-NEXT: %[[WA:.*]] = ds.wait %[[TA]], %[[A]]
  // CHECK-NEXT: %[[S:.*]] = arith.addf %{{.*}}, %[[WA]]
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[S]]
  // CHECK-NEXT: %[[WB:.*]] = ds.wait %[[TB]], %[[F]]
  // CHECK-NEXT: arith.addf %[[E]], %[[WB]]
  %a = ds.read @a : !flat
  %b = ds.read @b : !flat
  %0 = ds.all_gather %a over "dp" : !flat -> !whole
  %1 = arith.addf %x, %0 : !whole
  %2 = math.exp %1 : !whole
  %f = ds.fence %b id 0 : !flat
  %3 = ds.all_gather %f over "dp" : !flat -> !whole
  %4 = arith.addf %2, %3 : !whole
  return %4 : !whole
}

// CHECK-LABEL: func.func @leaves_a_collective_that_is_needed_at_once_alone
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @leaves_a_collective_that_is_needed_at_once_alone(%x: !partial) -> !whole {
  // CHECK-NEXT: %[[T:.*]] = ds.start all_reduce %[[X]]
  // CHECK-NEXT: %[[W:.*]] = ds.wait %[[T]], %[[X]]
  // CHECK-NEXT: return %[[W]]
  %0 = ds.all_reduce %x over "dp" : !partial -> !whole
  return %0 : !whole
}
