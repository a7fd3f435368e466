// RUN: ds-opt %s --cse --ds-recognize-composites --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @causal_by_select_with_operands_out_of_order
func.func @causal_by_select_with_operands_out_of_order(%q: tensor<2x2x4x8xf32>, %k: tensor<2x2x4x8xf32>, %v: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  %allowed = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %low = arith.constant dense<-3.4028235E+38> : tensor<2x4x2x2xf32>
  %c = arith.constant dense<4.0> : tensor<2x4x2x2xf32>
  %mask = ds.broadcast %allowed {dims = array<i64: 2, 3>} : (tensor<2x2xi1>) -> tensor<2x4x2x2xi1>
  %0 = ds.matmul %q, %k {indices = "bshd,bthd->bhst"} : (tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>) -> tensor<2x4x2x2xf32>
  %1 = arith.divf %0, %c : tensor<2x4x2x2xf32>
  %2 = arith.select %mask, %1, %low : tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>
  %3 = ds.softmax %2 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK: %[[Q:.*]] = ds.transpose %arg0 {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK: %[[K:.*]] = ds.transpose %arg1 {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK: ds.attention %[[Q]], %[[K]], %arg2 {causal, scale = 2.500000e-01 : f64}
  %4 = ds.matmul %3, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %4 : tensor<2x4x2x8xf32>
}

// A mask that hides something else is the bias.
// CHECK-LABEL: func.func @another_constant_mask_is_a_bias
func.func @another_constant_mask_is_a_bias(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  // CHECK: %[[M:.*]] = arith.constant dense<{{.*}}> : tensor<2x2xf32>
  %hidden = arith.constant dense<[[0.0, 0.0], [-1.0e+30, 0.0]]> : tensor<2x2xf32>
  %mask = ds.broadcast %hidden {dims = array<i64: 2, 3>} : (tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %0 = ds.matmul %q, %k {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x2xf32>
  %1 = arith.addf %0, %mask : tensor<2x4x2x2xf32>
  %2 = ds.softmax %1 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK: %[[B:.*]] = ds.reshape %[[M]] : (tensor<2x2xf32>) -> tensor<1x1x2x2xf32>
  // CHECK: ds.attention %arg0, %arg1, %arg2, %[[B]] {scale = 1.000000e+00 : f64}
  %3 = ds.matmul %2, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %3 : tensor<2x4x2x8xf32>
}

// Where the bias hides all that a row sees, the row sees the future again: both are the finite number then.
// CHECK-LABEL: func.func @a_finite_causal_mask_beside_padding_is_left_alone
func.func @a_finite_causal_mask_beside_padding_is_left_alone(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>, %padding: tensor<2x2xf32>) -> tensor<2x4x2x8xf32> {
  %allowed = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %low = arith.constant dense<-3.4028235E+38> : tensor<2x4x2x2xf32>
  %mask = ds.broadcast %allowed {dims = array<i64: 2, 3>} : (tensor<2x2xi1>) -> tensor<2x4x2x2xi1>
  %bias = ds.broadcast %padding {dims = array<i64: 0, 3>} : (tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %0 = ds.matmul %q, %k {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x2xf32>
  %1 = arith.select %mask, %0, %low : tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>
  %2 = arith.addf %1, %bias : tensor<2x4x2x2xf32>
  // CHECK: ds.softmax
  %3 = ds.softmax %2 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK-NOT: ds.attention
  %4 = ds.matmul %3, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %4 : tensor<2x4x2x8xf32>
}

// CHECK-LABEL: func.func @an_infinite_causal_mask_beside_padding
func.func @an_infinite_causal_mask_beside_padding(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>, %padding: tensor<2x2xf32>) -> tensor<2x4x2x8xf32> {
  %hidden = arith.constant dense<[[0.0, 0xFF800000], [0.0, 0.0]]> : tensor<2x2xf32>
  %mask = ds.broadcast %hidden {dims = array<i64: 2, 3>} : (tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %bias = ds.broadcast %padding {dims = array<i64: 0, 3>} : (tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %0 = ds.matmul %q, %k {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x2xf32>
  %1 = arith.addf %0, %mask : tensor<2x4x2x2xf32>
  %2 = arith.addf %1, %bias : tensor<2x4x2x2xf32>
  %3 = ds.softmax %2 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK: %[[B:.*]] = ds.reshape %arg3 : (tensor<2x2xf32>) -> tensor<2x1x1x2xf32>
  // CHECK: ds.attention %arg0, %arg1, %arg2, %[[B]] {causal
  %4 = ds.matmul %3, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %4 : tensor<2x4x2x8xf32>
}

// A slope by distance is too small to hide anything.
// CHECK-LABEL: func.func @a_finite_causal_mask_beside_slopes
func.func @a_finite_causal_mask_beside_slopes(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  %hidden = arith.constant dense<[[0.0, -1.0e+9], [0.0, 0.0]]> : tensor<2x2xf32>
  %slopes = arith.constant dense<[[0.0, 0.5], [-0.5, 0.0]]> : tensor<2x2xf32>
  %mask = ds.broadcast %hidden {dims = array<i64: 2, 3>} : (tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %bias = ds.broadcast %slopes {dims = array<i64: 2, 3>} : (tensor<2x2xf32>) -> tensor<2x4x2x2xf32>
  %0 = ds.matmul %q, %k {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x2xf32>
  %1 = arith.addf %0, %bias : tensor<2x4x2x2xf32>
  %2 = arith.addf %1, %mask : tensor<2x4x2x2xf32>
  %3 = ds.softmax %2 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK: ds.attention %arg0, %arg1, %arg2, %{{.*}} {causal
  %4 = ds.matmul %3, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %4 : tensor<2x4x2x8xf32>
}

// CHECK-LABEL: func.func @repeated_heads_are_taken_back
func.func @repeated_heads_are_taken_back(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x3x8xf32>, %v: tensor<2x2x3x8xf32>) -> tensor<2x3x4x8xf32> {
  %0 = ds.broadcast %k {dims = array<i64: 0, 1, 3, 4>} : (tensor<2x2x3x8xf32>) -> tensor<2x2x2x3x8xf32>
  %1 = ds.reshape %0 : (tensor<2x2x2x3x8xf32>) -> tensor<2x4x3x8xf32>
  %2 = ds.broadcast %v {dims = array<i64: 0, 1, 3, 4>} : (tensor<2x2x3x8xf32>) -> tensor<2x2x2x3x8xf32>
  %3 = ds.reshape %2 : (tensor<2x2x2x3x8xf32>) -> tensor<2x4x3x8xf32>
  %4 = ds.matmul %q, %1 {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %5 = ds.softmax %4 {dim = 3 : i64} : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  // CHECK-NEXT: %[[A:.*]] = ds.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64}
  // CHECK-NEXT: ds.transpose %[[A]] {permutation = array<i64: 0, 2, 1, 3>}
  %6 = ds.matmul %5, %3 {indices = "bhst,bhtd->bshd"} : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x3x4x8xf32>
  return %6 : tensor<2x3x4x8xf32>
}

// One key head for all queries: its letter is gone from the contraction.
// CHECK-LABEL: func.func @one_key_head
func.func @one_key_head(%q: tensor<2x4x3x8xf32>, %k: tensor<2x3x8xf32>, %v: tensor<2x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %0 = ds.matmul %q, %k {indices = "bhsd,btd->bhst"} : (tensor<2x4x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x4x3x3xf32>
  %1 = ds.softmax %0 {dim = 3 : i64} : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  // CHECK: ds.attention %arg0, %{{.*}}, %{{.*}} {{.*}} : (tensor<2x4x3x8xf32>, tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>)
  %2 = ds.matmul %1, %v {indices = "bhst,btd->bhsd"} : (tensor<2x4x3x3xf32>, tensor<2x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %2 : tensor<2x4x3x8xf32>
}

// CHECK-LABEL: func.func @scaled_operands
func.func @scaled_operands(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  %c = arith.constant dense<0.5> : tensor<2x4x2x8xf32>
  %0 = arith.mulf %q, %c : tensor<2x4x2x8xf32>
  %1 = arith.mulf %c, %k : tensor<2x4x2x8xf32>
  %2 = ds.matmul %0, %1 {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x2xf32>
  %3 = ds.softmax %2 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK-NEXT: ds.attention %arg0, %arg1, %arg2 {scale = 2.500000e-01 : f64}
  %4 = ds.matmul %3, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %4 : tensor<2x4x2x8xf32>
}

// -----

// The gradient of a learned bias would be lost.
ds.variable @bias {role = #ds.role<parameter>} : tensor<4x2x2xf32>
// CHECK-LABEL: func.func @a_learned_bias_is_left_alone
func.func @a_learned_bias_is_left_alone(%q: tensor<2x4x2x8xf32>, %k: tensor<2x4x2x8xf32>, %v: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  %b = ds.read @bias : tensor<4x2x2xf32>
  %mask = ds.broadcast %b {dims = array<i64: 1, 2, 3>} : (tensor<4x2x2xf32>) -> tensor<2x4x2x2xf32>
  %0 = ds.matmul %q, %k {indices = "bhsd,bhtd->bhst"} : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x2xf32>
  %1 = arith.addf %0, %mask : tensor<2x4x2x2xf32>
  // CHECK: ds.softmax
  %2 = ds.softmax %1 {dim = 3 : i64} : (tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
  // CHECK-NOT: ds.attention
  %3 = ds.matmul %2, %v {indices = "bhst,bhtd->bhsd"} : (tensor<2x4x2x2xf32>, tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32>
  return %3 : tensor<2x4x2x8xf32>
}
