// RUN: ds-opt %s --ds-match-library-calls --canonicalize --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-match-library-calls -o /dev/null

ds.mesh @mesh <dp = 2, tp = 2>

// CHECK-LABEL: func.func @a_transposed_operand_is_read_in_its_order
// CHECK-SAME:  (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}})
func.func @a_transposed_operand_is_read_in_its_order(%q: tensor<3x8xf32> {ds.name = "q"}, %k: tensor<4x8xf32> {ds.name = "k"}) -> (tensor<3x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]] = ds.matmul %[[Q]], %[[K]] {indices = "ik,jk->ij"}
  // CHECK-NEXT: return %[[Y]]
  %t = ds.transpose %k {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %y = ds.matmul %q, %t {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_permutation_that_is_no_swap
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
func.func @a_permutation_that_is_no_swap(%x: tensor<2x3x4xf32> {ds.name = "x"}, %w: tensor<2x5xf32> {ds.name = "w"}) -> (tensor<3x4x5xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.matmul %[[X]], %[[W]] {indices = "kab,kn->abn"}
  %t = ds.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %y = ds.matmul %t, %w {indices = "abk,kn->abn"} : (tensor<3x4x2xf32>, tensor<2x5xf32>) -> tensor<3x4x5xf32>
  return %y : tensor<3x4x5xf32>
}

// CHECK-LABEL: func.func @a_transposed_result_is_written_in_its_order
func.func @a_transposed_result_is_written_in_its_order(%x: tensor<3x8xf32> {ds.name = "x"}, %w: tensor<8x4xf32> {ds.name = "w"}) -> (tensor<4x3xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.matmul {{.*}} {indices = "ik,kj->ji"} : {{.*}} -> tensor<4x3xf32>
  // CHECK-NEXT: return
  %m = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = ds.transpose %m {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @a_transpose_of_a_transpose_is_one
func.func @a_transpose_of_a_transpose_is_one(%x: tensor<2x3x4xf32> {ds.name = "x"}) -> (tensor<4x3x2xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.transpose %{{.*}} {permutation = array<i64: 2, 1, 0>}
  // CHECK-NEXT: return
  %a = ds.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %y = ds.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<3x2x4xf32>) -> tensor<4x3x2xf32>
  return %y : tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @leaves_a_result_with_other_users_alone
func.func @leaves_a_result_with_other_users_alone(%x: tensor<3x8xf32> {ds.name = "x"}, %w: tensor<8x4xf32> {ds.name = "w"}) -> (tensor<4x3xf32> {ds.name = "y"}, tensor<3x4xf32> {ds.name = "z"}) {
  // CHECK-NEXT: %[[M:.*]] = ds.matmul {{.*}} {indices = "ik,kj->ij"}
  // CHECK-NEXT: ds.transpose %[[M]]
  %m = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = ds.transpose %m {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %y, %m : tensor<4x3xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_result_is_written_in_the_order_of_all_that_read_it
func.func @a_result_is_written_in_the_order_of_all_that_read_it(%x: tensor<3x8xf32> {ds.name = "x"}, %w: tensor<8x4xf32> {ds.name = "w"}, %u: tensor<4x5xf32> {ds.name = "u"}) -> (tensor<4x3xf32> {ds.name = "y"}, tensor<3x5xf32> {ds.name = "z"}) {
  // CHECK-NEXT: %[[M:.*]] = ds.matmul {{.*}} {indices = "ik,kj->ji"} : {{.*}} -> tensor<4x3xf32>
  // CHECK-NEXT: %[[Z:.*]] = ds.matmul %[[M]], %{{.*}} {indices = "jm,jn->mn"}
  // CHECK-NEXT: return %[[M]], %[[Z]]
  %m = ds.matmul %x, %w {indices = "ik,kj->ij"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = ds.transpose %m {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %z = ds.matmul %m, %u {indices = "mj,jn->mn"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %y, %z : tensor<4x3xf32>, tensor<3x5xf32>
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @heads_of_a_projection_are_read_between_its_positions
// CHECK-SAME:  (%[[X:[^:]*]]: {{[^%]*}}%[[K:[^:]*]]: {{[^%]*}}%[[V:[^:]*]]: tensor
func.func @heads_of_a_projection_are_read_between_its_positions(%x: tensor<2x6x8xf32> {ds.name = "x"}, %k: tensor<2x2x7x4xf32> {ds.name = "k"}, %v: tensor<2x2x7x4xf32> {ds.name = "v"}) -> (tensor<2x6x8xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Q:.*]] = ds.reshape %[[X]] : {{.*}} -> tensor<2x6x2x4xf32>
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = ds.fused_attention %[[Q]], %[[K]], %[[V]] {indices = "bskd,bktd,bkte->bske,bks,bks"
  // CHECK-NEXT: ds.reshape %[[Y]] : {{.*}} -> tensor<2x6x8xf32>
  %r = ds.reshape %x : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q = ds.transpose %r {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %a, %m, %l = ds.fused_attention %q, %k, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x2x6x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>)
  %t = ds.transpose %a {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
  %y = ds.reshape %t : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  return %y : tensor<2x6x8xf32>
}

// CHECK-LABEL: func.func @leaves_a_transpose_that_moves_the_width_alone
func.func @leaves_a_transpose_that_moves_the_width_alone(%k: tensor<2x2x4x7xf32> {ds.name = "k"}, %q: tensor<2x2x6x4xf32> {ds.name = "q"}, %v: tensor<2x2x7x4xf32> {ds.name = "v"}) -> (tensor<2x2x6x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[T:.*]] = ds.transpose
  // CHECK-NEXT: ds.fused_attention %{{.*}}, %[[T]], %{{.*}} {indices = "bksd,bktd,bkte->bkse,bks,bks"
  %t = ds.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x7xf32>) -> tensor<2x2x7x4xf32>
  %y, %m, %l = ds.fused_attention %q, %t, %v {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x2x6x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>)
  return %y : tensor<2x2x6x4xf32>
}

// CHECK-LABEL: func.func @slices_of_a_joint_projection_become_coordinates
// CHECK-SAME:  (%[[X:[^:]*]]: tensor
func.func @slices_of_a_joint_projection_become_coordinates(%x: tensor<2x6x24xf32> {ds.name = "x"}) -> (tensor<2x6x2x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[P:.*]] = ds.reshape %[[X]] : {{.*}} -> tensor<2x6x3x2x4xf32>
  // CHECK:      ds.fused_attention %{{.*}} {causal, indices = "bs0kd,bt1kd,bt2ke->bske,bks,bks"
  // CHECK-NOT:  ds.slice
  // CHECK:      return
  %q0 = ds.slice %x {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %q = ds.reshape %q0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k0 = ds.slice %x {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %k = ds.reshape %k0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %v0 = ds.slice %x {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %v = ds.reshape %v0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bskd,btkd,btke->bske,bks,bks", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x6x2x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>)
  return %y : tensor<2x6x2x4xf32>
}

// CHECK-LABEL: func.func @three_gradients_are_written_into_one_tensor
func.func @three_gradients_are_written_into_one_tensor(%x: tensor<2x6x24xf32> {ds.name = "x"}, %g: tensor<2x6x2x4xf32> {ds.name = "g"}) -> (tensor<2x6x24xf32> {ds.name = "dx"}) {
  // CHECK-NOT:  ds.slice
  // CHECK:      %[[D:.*]] = ds.fused_attention_grad %{{.*}}indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske->bs0kd,bt1kd,bt2ke"{{.*}} -> tensor<2x6x3x2x4xf32>
  // CHECK-NEXT: %[[R:.*]] = ds.reshape %[[D]]
  // CHECK-NEXT: return %[[R]]
  %q0 = ds.slice %x {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %q = ds.reshape %q0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k0 = ds.slice %x {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %k = ds.reshape %k0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %v0 = ds.slice %x {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %v = ds.reshape %v0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bskd,btkd,btke->bske,bks,bks", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x6x2x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>)
  %d:3 = ds.fused_attention_grad %q, %k, %v, %y, %m, %l, %g {indices = "bskd,btkd,btke,bske,bks,bks,bske->bskd,btkd,btke", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>)
  %dq = ds.reshape %d#0 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %dk = ds.reshape %d#1 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %dv = ds.reshape %d#2 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %dx = ds.concat %dq, %dk, %dv {dim = 2 : i64} : (tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x24xf32>
  return %dx : tensor<2x6x24xf32>
}

// CHECK-LABEL: func.func @a_sum_of_pads_of_gradients_is_one_tensor_too
func.func @a_sum_of_pads_of_gradients_is_one_tensor_too(%x: tensor<2x6x24xf32> {ds.name = "x"}, %g: tensor<2x6x2x4xf32> {ds.name = "g"}) -> (tensor<2x6x24xf32> {ds.name = "dx"}) {
  // CHECK-NOT:  {{ds.pad|arith.addf}}
  // CHECK:      ds.fused_attention_grad %{{.*}} -> tensor<2x6x3x2x4xf32>
  // CHECK-NEXT: ds.reshape
  // CHECK-NEXT: return
  %q0 = ds.slice %x {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %q = ds.reshape %q0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k0 = ds.slice %x {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %k = ds.reshape %k0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %v0 = ds.slice %x {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %v = ds.reshape %v0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bskd,btkd,btke->bske,bks,bks", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x6x2x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>)
  %d:3 = ds.fused_attention_grad %q, %k, %v, %y, %m, %l, %g {indices = "bskd,btkd,btke,bske,bks,bks,bske->bskd,btkd,btke", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>)
  %dq = ds.reshape %d#0 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %dk = ds.reshape %d#1 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %dv = ds.reshape %d#2 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %pq = ds.pad %dq {low = array<i64: 0, 0, 0>, interior = array<i64: 0, 0, 0>} : (tensor<2x6x8xf32>) -> tensor<2x6x24xf32>
  %pk = ds.pad %dk {low = array<i64: 0, 0, 8>, interior = array<i64: 0, 0, 0>} : (tensor<2x6x8xf32>) -> tensor<2x6x24xf32>
  %pv = ds.pad %dv {low = array<i64: 0, 0, 16>, interior = array<i64: 0, 0, 0>} : (tensor<2x6x8xf32>) -> tensor<2x6x24xf32>
  %s = arith.addf %pk, %pq : tensor<2x6x24xf32>
  %dx = arith.addf %pv, %s : tensor<2x6x24xf32>
  return %dx : tensor<2x6x24xf32>
}

// CHECK-LABEL: func.func @a_joint_projection_split_by_heads_stays_split
func.func @a_joint_projection_split_by_heads_stays_split(%x: tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>> {ds.name = "x"}, %g: tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>> {ds.name = "g"}) -> (tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>> {ds.name = "dx"}) {
  // CHECK-NOT:  ds.slice
  // CHECK:      ds.fused_attention_grad %{{.*}} -> tensor<2x6x3x2x4xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>
  // CHECK-NEXT: ds.reshape %{{.*}} -> tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
  // CHECK-NEXT: return
  %q0 = ds.slice %x {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>) -> tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>
  %q = ds.reshape %q0 : (tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>) -> tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>
  %k0 = ds.slice %x {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>) -> tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>
  %k = ds.reshape %k0 : (tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>) -> tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>
  %v0 = ds.slice %x {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>) -> tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>
  %v = ds.reshape %v0 : (tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>) -> tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>
  %y, %m, %l = ds.fused_attention %q, %k, %v {indices = "bskd,btkd,btke->bske,bks,bks", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>) -> (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x2x6xf32, #ds.layout<[{dp}, {tp}, {}]>>, tensor<2x2x6xf32, #ds.layout<[{dp}, {tp}, {}]>>)
  %d:3 = ds.fused_attention_grad %q, %k, %v, %y, %m, %l, %g {indices = "bskd,btkd,btke,bske,bks,bks,bske->bskd,btkd,btke", scale = 0.5 : f64, causal}
      : (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x2x6xf32, #ds.layout<[{dp}, {tp}, {}]>>, tensor<2x2x6xf32, #ds.layout<[{dp}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>) -> (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>)
  %dq = ds.reshape %d#0 : (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>) -> tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>
  %dk = ds.reshape %d#1 : (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>) -> tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>
  %dv = ds.reshape %d#2 : (tensor<2x6x2x4xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>) -> tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>
  %pq = ds.pad %dq {low = array<i64: 0, 0, 0>, interior = array<i64: 0, 0, 0>} : (tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>) -> tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
  %pk = ds.pad %dk {low = array<i64: 0, 0, 8>, interior = array<i64: 0, 0, 0>} : (tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>) -> tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
  %pv = ds.pad %dv {low = array<i64: 0, 0, 16>, interior = array<i64: 0, 0, 0>} : (tensor<2x6x8xf32, #ds.layout<[{dp}, {}, {tp}]>>) -> tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
  %s = arith.addf %pk, %pq : tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
  %dx = arith.addf %pv, %s : tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
  return %dx : tensor<2x6x24xf32, #ds.layout<[{dp}, {}, (3)(2{tp})(4)]>>
}

// CHECK-LABEL: func.func @leaves_a_slice_that_is_no_equal_part_alone
func.func @leaves_a_slice_that_is_no_equal_part_alone(%x: tensor<2x6x2x9xf32> {ds.name = "x"}, %k: tensor<2x7x2x4xf32> {ds.name = "k"}) -> (tensor<2x6x2x4xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Q:.*]] = ds.slice
  // CHECK-NEXT: ds.fused_attention %[[Q]], %
  %q = ds.slice %x {offsets = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x6x2x9xf32>) -> tensor<2x6x2x4xf32>
  %y, %m, %l = ds.fused_attention %q, %k, %k {indices = "bskd,btkd,btke->bske,bks,bks", scale = 0.5 : f64}
      : (tensor<2x6x2x4xf32>, tensor<2x7x2x4xf32>, tensor<2x7x2x4xf32>) -> (tensor<2x6x2x4xf32>, tensor<2x2x6xf32>, tensor<2x2x6xf32>)
  return %y : tensor<2x6x2x4xf32>
}

//===----------------------------------------------------------------------===//
// Pads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @a_sum_of_pads_that_fill_a_dim_is_a_concat
// CHECK-SAME:  (%[[A:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: tensor
func.func @a_sum_of_pads_that_fill_a_dim_is_a_concat(%a: tensor<2x3xf32> {ds.name = "a"}, %b: tensor<2x5xf32> {ds.name = "b"}) -> (tensor<2x8xf32> {ds.name = "y"}) {
  // CHECK-NEXT: ds.concat %[[B]], %[[A]] {dim = 1 : i64}
  // CHECK-NEXT: return
  %0 = ds.pad %a {low = array<i64: 0, 5>, interior = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x8xf32>
  %1 = ds.pad %b {low = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x5xf32>) -> tensor<2x8xf32>
  %y = arith.addf %0, %1 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @leaves_pads_that_overlap_alone
func.func @leaves_pads_that_overlap_alone(%a: tensor<2x4xf32> {ds.name = "a"}, %b: tensor<2x5xf32> {ds.name = "b"}) -> (tensor<2x8xf32> {ds.name = "y"}) {
  // CHECK-COUNT-2: ds.pad
  // CHECK:         arith.addf
  %0 = ds.pad %a {low = array<i64: 0, 4>, interior = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %1 = ds.pad %b {low = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x5xf32>) -> tensor<2x8xf32>
  %y = arith.addf %0, %1 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @leaves_pads_with_a_gap_alone
func.func @leaves_pads_with_a_gap_alone(%a: tensor<2x3xf32> {ds.name = "a"}, %b: tensor<2x4xf32> {ds.name = "b"}) -> (tensor<2x8xf32> {ds.name = "y"}) {
  // CHECK-COUNT-2: ds.pad
  // CHECK:         arith.addf
  %0 = ds.pad %a {low = array<i64: 0, 5>, interior = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x8xf32>
  %1 = ds.pad %b {low = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %y = arith.addf %0, %1 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @leaves_pads_of_two_dims_alone
func.func @leaves_pads_of_two_dims_alone(%a: tensor<1x4xf32> {ds.name = "a"}, %b: tensor<2x4xf32> {ds.name = "b"}) -> (tensor<2x8xf32> {ds.name = "y"}) {
  // CHECK-COUNT-2: ds.pad
  // CHECK:         arith.addf
  %0 = ds.pad %a {low = array<i64: 1, 4>, interior = array<i64: 0, 0>} : (tensor<1x4xf32>) -> tensor<2x8xf32>
  %1 = ds.pad %b {low = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %y = arith.addf %0, %1 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @leaves_a_pad_between_elements_alone
func.func @leaves_a_pad_between_elements_alone(%a: tensor<2x2xf32> {ds.name = "a"}, %b: tensor<2x5xf32> {ds.name = "b"}) -> (tensor<2x8xf32> {ds.name = "y"}) {
  // CHECK-COUNT-2: ds.pad
  // CHECK:         arith.addf
  %0 = ds.pad %a {low = array<i64: 0, 5>, interior = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x8xf32>
  %1 = ds.pad %b {low = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x5xf32>) -> tensor<2x8xf32>
  %y = arith.addf %0, %1 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @a_rotation_leaves_the_order_to_the_attention
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[C:.*]]: {{.*}}, %[[S:.*]]: {{.*}}, %[[K:.*]]: {{.*}})
func.func @a_rotation_leaves_the_order_to_the_attention(%x: tensor<2x6x4x8xf32> {ds.name = "x"}, %c: tensor<6x4xf32> {ds.name = "c"}, %s: tensor<6x4xf32> {ds.name = "s"}, %k: tensor<2x4x6x8xf32> {ds.name = "k"})
    -> (tensor<2x4x6x8xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Q:.*]] = ds.rotary_embedding %[[X]], %[[C]], %[[S]] {dims = array<i64: 1>}
  // CHECK-NEXT: ds.fused_attention %[[Q]], %[[K]], %[[K]] {indices = "bskd,bktd,bkte->bkse,bks,bks"
  // CHECK-NEXT: return
  %t = ds.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
  %q = ds.rotary_embedding %t, %c, %s : (tensor<2x4x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x4x6x8xf32>
  %y, %m, %l = ds.fused_attention %q, %k, %k {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return %y : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @tables_of_a_transposed_order_keep_the_transpose
func.func @tables_of_a_transposed_order_keep_the_transpose(%x: tensor<2x6x4x8xf32> {ds.name = "x"}, %c: tensor<4x6x4xf32> {ds.name = "c"}, %k: tensor<2x4x6x8xf32> {ds.name = "k"})
    -> (tensor<2x4x6x8xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[T:.*]] = ds.transpose
  // CHECK-NEXT: ds.rotary_embedding %[[T]], %{{.*}}, %{{.*}} : (tensor<2x4x6x8xf32>
  %t = ds.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
  %q = ds.rotary_embedding %t, %c, %c : (tensor<2x4x6x8xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>) -> tensor<2x4x6x8xf32>
  %y, %m, %l = ds.fused_attention %q, %k, %k {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  return %y : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @a_rotated_result_is_written_in_order
func.func @a_rotated_result_is_written_in_order(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %c: tensor<6x4xf32> {ds.name = "c"}, %s: tensor<6x4xf32> {ds.name = "s"}) -> (tensor<2x6x4x8xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[A:.*]], %{{.*}}, %{{.*}} = ds.fused_attention {{.*}} {indices = "bksd,bktd,bkte->bske,bks,bks"
  // CHECK-NEXT: %[[Y:.*]] = ds.rotary_embedding %[[A]], %{{.*}} {dims = array<i64: 1>}
  // CHECK-NEXT: return %[[Y]]
  %a, %m, %l = ds.fused_attention %q, %q, %q {indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 0.5 : f64}
      : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>)
  %r = ds.rotary_embedding %a, %c, %s : (tensor<2x4x6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<2x4x6x8xf32>
  %y = ds.transpose %r {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  return %y : tensor<2x6x4x8xf32>
}
