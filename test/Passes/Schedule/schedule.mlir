// RUN: ds-opt %s --ds-schedule --ds-verify-layouts | FileCheck %s

// Times are seconds, so that each claim can be followed: "at 4" is when the ops before it have taken 4 s.

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
  %t = ds.start all_reduce %x over "dp" {ds.seconds = 3.0} : !partial -> [!whole]
  %w = ds.wait %t, %x : !partial -> !whole
  %1 = math.exp %y {ds.seconds = 2.0} : !whole
  %2 = math.sin %1 {ds.seconds = 2.0} : !whole
  %3 = arith.addf %w, %2 {ds.seconds = 2.0} : !whole
  return %3 : !whole
}

// CHECK-LABEL: func.func @sources_are_free_when_the_reduction_has_ended
func.func @sources_are_free_when_the_reduction_has_ended(%x: !partial, %y: !whole) -> !whole {
  // CHECK:      math.exp
  // CHECK-NEXT: ds.wait
  // CHECK-NEXT: math.sin
  %t = ds.start all_reduce %x over "dp" {ds.seconds = 1.0} : !partial -> [!whole]
  %w = ds.wait %t, %x : !partial -> !whole
  %1 = math.exp %y {ds.seconds = 2.0} : !whole
  %2 = math.sin %1 {ds.seconds = 2.0} : !whole
  %3 = arith.addf %w, %2 {ds.seconds = 2.0} : !whole
  return %3 : !whole
}

// CHECK-LABEL: func.func @a_gather_starts_early_enough
func.func @a_gather_starts_early_enough(%x: !whole) -> !whole {
  // The sum needs it at 4, it takes 3.
  // CHECK:      ds.read @b
  // CHECK-NEXT: %[[F:.*]] = ds.fence
  // CHECK-NEXT: ds.start all_gather %[[F]]
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: math.sin
  // CHECK-NEXT: ds.wait
  // CHECK-NEXT: arith.addf
  %b = ds.read @b : !flat
  %1 = math.exp %x {ds.seconds = 2.0} : !whole
  %2 = math.sin %1 {ds.seconds = 2.0} : !whole
  %f = ds.fence %b id 0 : !flat
  %t = ds.start all_gather %f over "dp" {ds.seconds = 3.0} : !flat -> [!whole]
  %w = ds.wait %t, %f : !flat -> !whole
  %3 = arith.addf %2, %w {ds.seconds = 2.0} : !whole
  return %3 : !whole
}

// CHECK-LABEL: func.func @a_gather_starts_no_earlier_than_it_must
func.func @a_gather_starts_no_earlier_than_it_must(%x: !whole) -> !whole {
  // CHECK:      math.exp
  // CHECK-NEXT: ds.start all_gather
  // CHECK-NEXT: math.sin
  %b = ds.read @b : !flat
  %1 = math.exp %x {ds.seconds = 2.0} : !whole
  %2 = math.sin %1 {ds.seconds = 2.0} : !whole
  %t = ds.start all_gather %b over "dp" {ds.seconds = 1.0} : !flat -> [!whole]
  %w = ds.wait %t, %b : !flat -> !whole
  %3 = arith.addf %2, %w {ds.seconds = 2.0} : !whole
  return %3 : !whole
}

// CHECK-LABEL: func.func @gathers_of_one_axis_follow_each_other
func.func @gathers_of_one_axis_follow_each_other(%x: !whole) -> !whole {
  // The second is needed at 4 and takes 3, so the first, which takes 1, has to begin at 0.
  // CHECK:      ds.read @b
  // CHECK-NEXT: %[[TA:.*]] = ds.start all_gather %[[A:.*]] over
  // CHECK-NEXT: %[[TB:.*]] = ds.start all_gather %[[B:.*]] over
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: ds.wait %[[TA]]
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: ds.wait %[[TB]]
  %a = ds.read @a : !flat
  %b = ds.read @b : !flat
  %1 = math.exp %x {ds.seconds = 2.0} : !whole
  %ta = ds.start all_gather %a over "dp" {ds.seconds = 1.0} : !flat -> [!whole]
  %wa = ds.wait %ta, %a : !flat -> !whole
  %2 = arith.addf %1, %wa {ds.seconds = 2.0} : !whole
  %tb = ds.start all_gather %b over "dp" {ds.seconds = 3.0} : !flat -> [!whole]
  %wb = ds.wait %tb, %b : !flat -> !whole
  %3 = arith.addf %2, %wb {ds.seconds = 2.0} : !whole
  return %3 : !whole
}

// CHECK-LABEL: func.func @a_gather_goes_before_a_reduction_that_would_hold_it_up
func.func @a_gather_goes_before_a_reduction_that_would_hold_it_up(%x: !whole) -> (!whole, !whole) {
  // The reduction is ready at 2 and takes 9; the gather is needed at 4.
  // CHECK:      ds.read @b
  // CHECK-NEXT: ds.start all_gather
  // CHECK-NEXT: math.exp
  // CHECK:      ds.start all_reduce
  %b = ds.read @b : !flat
  %1 = math.exp %x {ds.seconds = 2.0} : !whole
  %p = ds.to_partial %1 over "dp" : !whole -> !partial
  %tr = ds.start all_reduce %p over "dp" {ds.seconds = 9.0} : !partial -> [!whole]
  %wr = ds.wait %tr, %p : !partial -> !whole
  %2 = math.sin %1 {ds.seconds = 2.0} : !whole
  %t = ds.start all_gather %b over "dp" {ds.seconds = 1.0} : !flat -> [!whole]
  %w = ds.wait %t, %b : !flat -> !whole
  %3 = arith.addf %2, %w {ds.seconds = 2.0} : !whole
  return %3, %wr : !whole, !whole
}

// CHECK-LABEL: func.func @leaves_a_collective_that_is_needed_at_once_alone
// CHECK-SAME:  (%[[X:.*]]: tensor
func.func @leaves_a_collective_that_is_needed_at_once_alone(%x: !partial) -> !whole {
  // CHECK-NEXT: %[[T:.*]] = ds.start all_reduce %[[X]]
  // CHECK-NEXT: %[[W:.*]] = ds.wait %[[T]], %[[X]]
  // CHECK-NEXT: return %[[W]]
  %t = ds.start all_reduce %x over "dp" {ds.seconds = 3.0} : !partial -> [!whole]
  %w = ds.wait %t, %x : !partial -> !whole
  return %w : !whole
}
