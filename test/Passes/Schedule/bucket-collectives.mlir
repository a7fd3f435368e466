// RUN: ds-opt %s --ds-split-async --ds-bucket-collectives --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --ds-split-async --ds-bucket-collectives=bytes=1 | FileCheck %s --check-prefix=SMALL
// RUN: ds-opt %s --ds-split-async --ds-bucket-collectives=window=2 | FileCheck %s --check-prefix=WINDOW

!whole = tensor<8xf32>
!flat = tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
!partial = tensor<8xf32, #ds.layout<[{}], partial = {dp}>>
ds.mesh @mesh <dp = 2, tp = 2>
ds.variable @a {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
ds.variable @b {role = #ds.role<parameter>} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>

// CHECK-LABEL: func.func @reductions_go_together_with_the_last
// SMALL-LABEL: func.func @reductions_go_together_with_the_last
func.func @reductions_go_together_with_the_last(%x: !partial, %y: !partial) -> (!flat, !flat) {
  // CHECK:      %[[X:.*]] = arith.negf %arg0
  // CHECK:      %[[Y:.*]] = arith.negf %arg1
  // CHECK-NEXT: %[[T:.*]] = ds.start reduce_scatter %[[X]], %[[Y]] over "dp"
  // CHECK-NEXT: %[[R:.*]]:2 = ds.wait %[[T]], %[[X]], %[[Y]]
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  // SMALL-COUNT-2: ds.start reduce_scatter
  %0 = arith.negf %x : !partial
  %1 = ds.reduce_scatter %0 over "dp" : !partial -> !flat
  %2 = arith.negf %y : !partial
  %3 = ds.reduce_scatter %2 over "dp" : !partial -> !flat
  return %1, %3 : !flat, !flat
}

// CHECK-LABEL: func.func @a_reduction_that_is_needed_does_not_wait
func.func @a_reduction_that_is_needed_does_not_wait(%x: !partial, %y: !partial) -> (!whole, !whole) {
  // CHECK: ds.start all_reduce %arg0 over "dp"
  // CHECK: ds.wait
  // CHECK: math.exp
  // CHECK: ds.start all_reduce %arg1 over "dp"
  %0 = ds.all_reduce %x over "dp" : !partial -> !whole
  %1 = math.exp %0 : !whole
  %2 = ds.all_reduce %y over "dp" : !partial -> !whole
  return %1, %2 : !whole, !whole
}

// CHECK-LABEL: func.func @gathers_of_parameters_join_the_first
// WINDOW-LABEL: func.func @gathers_of_parameters_join_the_first
func.func @gathers_of_parameters_join_the_first(%x: !whole) -> !whole {
  // CHECK:      %[[A:.*]] = ds.read @a
  // CHECK:      %[[B:.*]] = ds.read @b
  // CHECK-NEXT: %[[T:.*]] = ds.start all_gather %[[A]], %[[B]] over "dp"
  // CHECK-NEXT: %[[W:.*]]:2 = ds.wait
  // CHECK:      arith.addf %{{.*}}, %[[W]]#0
  // CHECK-NOT:  ds.start
  // CHECK:      arith.addf %{{.*}}, %[[W]]#1
  // WINDOW-COUNT-2: ds.start all_gather
  %a = ds.read @a : !flat
  %b = ds.read @b : !flat
  %0 = ds.all_gather %a over "dp" : !flat -> !whole
  %1 = arith.addf %x, %0 : !whole
  %2 = math.exp %1 : !whole
  %3 = ds.all_gather %b over "dp" : !flat -> !whole
  %4 = arith.addf %2, %3 : !whole
  return %4 : !whole
}

// CHECK-LABEL: func.func @assigns_stand_at_the_end
func.func @assigns_stand_at_the_end(%x: !whole) -> !whole {
  // CHECK:      math.exp
  // CHECK-NEXT: ds.assign @a
  // CHECK-NEXT: return
  %a = ds.read @a : !flat
  ds.assign @a, %a : !flat
  %0 = math.exp %x : !whole
  return %0 : !whole
}

// Another kind, axis, element type or fold is another bucket.
// CHECK-LABEL: func.func @leaves_what_differs_alone
func.func @leaves_what_differs_alone(%x: !partial, %y: tensor<8xf32, #ds.layout<[{}], partial = {tp}>>, %z: tensor<8xf64, #ds.layout<[{}], partial = {dp}>>,
                                     %m: tensor<8xf32, #ds.layout<[{}], partial = {dp:max}>>) -> (!whole, !whole, tensor<8xf64>, !whole, !flat) {
  // CHECK: ds.start all_reduce %arg0 over "dp"
  // CHECK: ds.start all_reduce %arg1 over "tp"
  // CHECK: ds.start all_reduce %arg2 over "dp"
  // CHECK: ds.start all_reduce %arg3 over "dp"
  // CHECK: ds.start reduce_scatter %arg0 over "dp"
  %0 = ds.all_reduce %x over "dp" : !partial -> !whole
  %1 = ds.all_reduce %y over "tp" : tensor<8xf32, #ds.layout<[{}], partial = {tp}>> -> !whole
  %2 = ds.all_reduce %z over "dp" : tensor<8xf64, #ds.layout<[{}], partial = {dp}>> -> tensor<8xf64>
  %3 = ds.all_reduce %m over "dp" : tensor<8xf32, #ds.layout<[{}], partial = {dp:max}>> -> !whole
  %4 = ds.reduce_scatter %x over "dp" : !partial -> !flat
  return %0, %1, %2, %3, %4 : !whole, !whole, tensor<8xf64>, !whole, !flat
}
