// RUN: ds-opt %s --ds-propagate-layouts --ds-verify-layouts=allow-relayouts | FileCheck %s

ds.mesh @mesh <dp = 2, tp = 2>

// CHECK: ds.variable @w {role = #ds.role<parameter>} : tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
ds.variable @w {role = #ds.role<parameter>, layout = #ds.layout<[{}, {}], flat = {dp}>} : tensor<8x6xf32>
// CHECK: ds.variable @columns {role = #ds.role<parameter>} : tensor<8x6xf32, #ds.layout<[{}, {tp}]>>
ds.variable @columns {role = #ds.role<parameter>, layout = #ds.layout<[{}, {tp}]>} : tensor<8x6xf32>
// CHECK: ds.variable @rows {role = #ds.role<parameter>} : tensor<6x8xf32, #ds.layout<[{tp}, {}]>>
ds.variable @rows {role = #ds.role<parameter>, layout = #ds.layout<[{tp}, {}]>} : tensor<6x8xf32>
// CHECK: ds.variable @state {role = #ds.role<optimizer>} : tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
ds.variable @state {role = #ds.role<optimizer>, layout = #ds.layout<[{}, {}], flat = {dp}>} : tensor<8x6xf32>

// CHECK-LABEL: func.func @gathers_a_flat_weight_for_its_matmul
// CHECK-SAME:  (%[[X:.*]]: tensor<4x8xf32, #ds.layout<[{dp}, {}]>> {ds.name = "x"})
func.func @gathers_a_flat_weight_for_its_matmul(%x: tensor<4x8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}, {}]>}) -> (tensor<4x6xf32> {ds.name = "y"}) {
  // CHECK: %[[S:.*]] = ds.read @w : tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
  // CHECK: %[[W:.*]] = ds.relayout %[[S]] : {{.*}} -> tensor<8x6xf32>
  // CHECK: ds.matmul %[[X]], %[[W]] {{.*}} -> tensor<4x6xf32, #ds.layout<[{dp}, {}]>>
  %w = ds.read @w : tensor<8x6xf32>
  %y = ds.matmul %x, %w {indices = "bk,kn->bn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Two matmuls, columns then rows: one reduction, where the sum meets what is not linear.
// CHECK-LABEL: func.func @reduces_a_tensor_parallel_pair_once
func.func @reduces_a_tensor_parallel_pair_once(%x: tensor<4x8xf32> {ds.name = "x"}) -> (tensor<4x8xf32> {ds.name = "y"}) {
  // CHECK: %[[H:.*]] = ds.matmul {{.*}} -> tensor<4x6xf32, #ds.layout<[{}, {tp}]>>
  // CHECK: ds.gelu %[[H]]
  // CHECK: %[[P:.*]] = ds.matmul {{.*}} -> tensor<4x8xf32, #ds.layout<[{}, {}], partial = {tp}>>
  // CHECK: %[[R:.*]] = ds.relayout %[[P]] : {{.*}} -> tensor<4x8xf32>
  // CHECK: math.exp %[[R]]
  // CHECK-NOT: ds.relayout
  // CHECK: return
  %a = ds.read @columns : tensor<8x6xf32>
  %b = ds.read @rows : tensor<6x8xf32>
  %h = ds.matmul %x, %a {indices = "bk,kn->bn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %g = ds.gelu %h {kind = #ds.gelu_kind<tanh>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = ds.matmul %g, %b {indices = "bk,kn->bn"} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %y = math.exp %p : tensor<4x8xf32>
  %z = arith.addf %y, %p : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @a_mean_over_the_batch_stays_partial_while_it_is_scaled
func.func @a_mean_over_the_batch_stays_partial_while_it_is_scaled(%x: tensor<4xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}) -> (tensor<f32> {ds.name = "y"}) {
  // CHECK: %[[S:.*]] = ds.reduce {{.*}} -> tensor<f32, #ds.layout<[], partial = {dp}>>
  // CHECK: %[[M:.*]] = ds.scale %[[S]] by
  // CHECK: %[[R:.*]] = ds.relayout %[[M]] : {{.*}} -> tensor<f32>
  // CHECK: return %[[R]]
  %q = arith.constant dense<0.25> : tensor<f32>
  %s = ds.reduce %x {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<4xf32>) -> tensor<f32>
  %m = arith.mulf %s, %q : tensor<f32>
  return %m : tensor<f32>
}

// CHECK-LABEL: func.func @a_constant_is_made_once_per_layout
func.func @a_constant_is_made_once_per_layout(%x: tensor<4xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}]>}, %y: tensor<4xf32> {ds.name = "y"}) -> (tensor<4xf32> {ds.name = "a"}, tensor<4xf32> {ds.name = "b"}) {
  // CHECK-COUNT-1: arith.constant {{.*}} tensor<4xf32, #ds.layout<[{dp}]>>
  // CHECK-COUNT-1: arith.constant {{.*}} tensor<4xf32>
  // CHECK-NOT:     arith.constant
  // CHECK:         return
  %c = arith.constant dense<0.25> : tensor<4xf32>
  %0 = arith.mulf %x, %c : tensor<4xf32>
  %1 = arith.subf %0, %c : tensor<4xf32>
  %2 = arith.mulf %y, %c : tensor<4xf32>
  %3 = arith.subf %2, %c : tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @a_flat_operand_makes_an_elementwise_op_flat
// CHECK-SAME:  (%[[G:.*]]: tensor<8x6xf32>
func.func @a_flat_operand_makes_an_elementwise_op_flat(%g: tensor<8x6xf32> {ds.name = "g"}) {
  // CHECK: %[[S:.*]] = ds.read @state
  // CHECK: %[[F:.*]] = ds.relayout %[[G]] : tensor<8x6xf32> -> tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
  // CHECK: %[[N:.*]] = arith.addf %[[S]], %[[F]] : tensor<8x6xf32, #ds.layout<[{}, {}], flat = {dp}>>
  // CHECK: ds.assign @state, %[[N]]
  %s = ds.read @state : tensor<8x6xf32>
  %n = arith.addf %s, %g : tensor<8x6xf32>
  ds.assign @state, %n : tensor<8x6xf32>
  return
}

// The accumulator is partial: nothing is sent inside the loop.
// CHECK-LABEL: func.func @accumulates_partial_gradients
func.func @accumulates_partial_gradients(%x: tensor<8x4xf32> {ds.name = "x", ds.layout = #ds.layout<[(2)(4{dp}), {}]>}) -> (tensor<4xf32> {ds.name = "g"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // CHECK:     scf.for {{.*}} -> (tensor<4xf32, #ds.layout<[{}], partial = {dp}>>)
  // CHECK:     ds.take_part {{.*}} -> tensor<4x4xf32, #ds.layout<[{dp}, {}]>>
  // CHECK-NOT: ds.relayout
  // CHECK:     scf.yield
  // CHECK:     ds.relayout {{.*}} -> tensor<4xf32>
  %g = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %zero) -> tensor<4xf32> {
    %p = ds.take_part %x[%i] {parts = 2} : tensor<8x4xf32> -> tensor<4x4xf32>
    %s = ds.reduce %p {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<4x4xf32>) -> tensor<4xf32>
    %n = arith.addf %a, %s : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %g : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_constraint_is_kept_and_gone
func.func @a_constraint_is_kept_and_gone(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  // CHECK:     %[[C:.*]] = ds.relayout %{{.*}} : tensor<8x4xf32> -> tensor<8x4xf32, #ds.layout<[{}, {tp}]>>
  // CHECK-NOT: ds.constrain
  // CHECK:     math.exp %[[C]]
  %c = ds.constrain %x to <[{}, {tp}]> : tensor<8x4xf32>
  %y = math.exp %c : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// (2{tp})(4) gives each rank one interval of the rows, (2)(4{tp}) two.
// CHECK-LABEL: func.func @rows_are_gathered_from_one_interval_of_a_rank
func.func @rows_are_gathered_from_one_interval_of_a_rank(%t: tensor<8x4xf32> {ds.name = "t", ds.layout = #ds.layout<[(2{tp})(4), {}]>}, %u: tensor<8x4xf32> {ds.name = "u", ds.layout = #ds.layout<[(2)(4{tp}), {}]>}, %i: tensor<6xi64> {ds.name = "i"}) -> (tensor<6x4xf32> {ds.name = "y"}) {
  // CHECK: ds.gather_rows {{.*}} : (tensor<8x4xf32, #ds.layout<[(2{tp})(4), {}]>>, tensor<6xi64>) -> tensor<6x4xf32, #ds.layout<[{}, {}], partial = {tp}>>
  // CHECK: ds.gather_rows {{.*}} : (tensor<8x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %0 = ds.gather_rows %t, %i : (tensor<8x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %1 = ds.gather_rows %u, %i : (tensor<8x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %y = arith.mulf %0, %1 : tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @numbers_that_are_no_interval_are_taken_from_all
func.func @numbers_that_are_no_interval_are_taken_from_all(%x: tensor<8xi64> {ds.name = "x", ds.layout = #ds.layout<[(2)(4{tp})]>}) -> (tensor<8xi64> {ds.name = "y"}) {
  // CHECK: %[[I:.*]] = ds.iota {{.*}} -> tensor<8xi64>
  // CHECK: ds.relayout %[[I]] : tensor<8xi64> -> tensor<8xi64, #ds.layout<[(2)(4{tp})]>>
  %i = ds.iota {dim = 0 : i64} : () -> tensor<8xi64>
  %y = arith.addi %x, %i : tensor<8xi64>
  return %y : tensor<8xi64>
}

// A factor of one element leaves all ranks but one without work.
// CHECK-LABEL: func.func @one_element_is_not_split
func.func @one_element_is_not_split(%x: tensor<1x8xf32> {ds.name = "x", ds.layout = #ds.layout<[{dp}, {}]>}) -> (tensor<1x8xf32> {ds.name = "y"}) {
  // CHECK: math.exp {{.*}} : tensor<1x8xf32>
  %y = math.exp %x : tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @leaves_a_program_without_hints_alone
// CHECK-SAME:  (%[[X:.*]]: tensor<8x4xf32>
func.func @leaves_a_program_without_hints_alone(%x: tensor<8x4xf32> {ds.name = "x"}) -> (tensor<8x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]] = math.exp %[[X]] : tensor<8x4xf32>
  // CHECK-NEXT: return %[[Y]] : tensor<8x4xf32>
  %y = math.exp %x : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
