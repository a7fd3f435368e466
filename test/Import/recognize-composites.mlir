// RUN: ds-opt %s --cse --ds-recognize-composites --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gelu_by_erf_multiplied_in_any_order
func.func @gelu_by_erf_multiplied_in_any_order(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %half = arith.constant dense<0.5> : tensor<2x4xf32>
  %one = arith.constant dense<1.0> : tensor<2x4xf32>
  %root = arith.constant dense<0.70710678> : tensor<2x4xf32>
  %0 = arith.mulf %x, %root : tensor<2x4xf32>
  %1 = math.erf %0 : tensor<2x4xf32>
  %2 = arith.addf %one, %1 : tensor<2x4xf32>
  %3 = arith.mulf %2, %half : tensor<2x4xf32>
  %4 = arith.mulf %3, %x : tensor<2x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = ds.gelu %{{.*}} {kind = #ds.gelu_kind<erf>}
  // CHECK-NEXT: return %[[Y]]
  return %4 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @gelu_of_a_product
func.func @gelu_of_a_product(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %half = arith.constant dense<0.5> : tensor<2x4xf32>
  %one = arith.constant dense<1.0> : tensor<2x4xf32>
  %c = arith.constant dense<0.797884583> : tensor<2x4xf32>
  %d = arith.constant dense<4.471500e-02> : tensor<2x4xf32>
  // CHECK: %[[X:.*]] = arith.mulf %arg0, %arg0
  %x = arith.mulf %a, %a : tensor<2x4xf32>
  %0 = arith.mulf %x, %x : tensor<2x4xf32>
  %1 = arith.mulf %0, %x : tensor<2x4xf32>
  %2 = arith.mulf %1, %d : tensor<2x4xf32>
  %3 = arith.addf %x, %2 : tensor<2x4xf32>
  %4 = arith.mulf %3, %c : tensor<2x4xf32>
  %5 = math.tanh %4 : tensor<2x4xf32>
  %6 = arith.addf %5, %one : tensor<2x4xf32>
  %7 = arith.mulf %x, %half : tensor<2x4xf32>
  %8 = arith.mulf %7, %6 : tensor<2x4xf32>
  // CHECK-NEXT: ds.gelu %[[X]] {kind = #ds.gelu_kind<tanh>}
  return %8 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @another_coefficient_is_no_gelu
func.func @another_coefficient_is_no_gelu(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %half = arith.constant dense<0.5> : tensor<2x4xf32>
  %one = arith.constant dense<1.0> : tensor<2x4xf32>
  %root = arith.constant dense<0.75> : tensor<2x4xf32>
  %0 = arith.mulf %x, %root : tensor<2x4xf32>
  %1 = math.erf %0 : tensor<2x4xf32>
  %2 = arith.addf %one, %1 : tensor<2x4xf32>
  %3 = arith.mulf %2, %half : tensor<2x4xf32>
  %4 = arith.mulf %3, %x : tensor<2x4xf32>
  // CHECK-NOT: ds.gelu
  // CHECK: return
  return %4 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @silu_and_its_gate
func.func @silu_and_its_gate(%x: tensor<2x4xf32>, %up: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %one = arith.constant dense<1.0> : tensor<2x4xf32>
  %0 = arith.negf %x : tensor<2x4xf32>
  %1 = math.exp %0 : tensor<2x4xf32>
  %2 = arith.addf %1, %one : tensor<2x4xf32>
  %3 = arith.divf %one, %2 : tensor<2x4xf32>
  %4 = arith.mulf %x, %3 : tensor<2x4xf32>
  // CHECK: %[[S:.*]] = ds.silu %arg0
  // CHECK: arith.mulf %[[S]], %arg1
  %5 = arith.mulf %4, %up : tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @rms_norm_divided_by_the_root
func.func @rms_norm_divided_by_the_root(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %n = arith.constant dense<0.25> : tensor<2x3xf32>
  %eps = arith.constant dense<1.0e-3> : tensor<2x3xf32>
  %0 = arith.mulf %x, %x : tensor<2x3x4xf32>
  %1 = ds.reduce %0 {dims = array<i64: 2>, kind = #ds.reduction<sum>} : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %2 = arith.mulf %1, %n : tensor<2x3xf32>
  %3 = arith.addf %eps, %2 : tensor<2x3xf32>
  %4 = math.sqrt %3 : tensor<2x3xf32>
  %5 = ds.broadcast %4 {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  %6 = arith.divf %x, %5 : tensor<2x3x4xf32>
  %7 = ds.broadcast %w {dims = array<i64: 2>} : (tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: ds.rms_norm %arg0, %arg1 {epsilon = {{.*}} : f64}
  %8 = arith.mulf %6, %7 : tensor<2x3x4xf32>
  return %8 : tensor<2x3x4xf32>
}

// The mean of squares of another value is no norm.
// CHECK-LABEL: func.func @another_values_root_is_no_norm
func.func @another_values_root_is_no_norm(%x: tensor<2x3x4xf32>, %z: tensor<2x3x4xf32>, %w: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %n = arith.constant dense<0.25> : tensor<2x3xf32>
  %eps = arith.constant dense<1.0e-3> : tensor<2x3xf32>
  %0 = arith.mulf %z, %z : tensor<2x3x4xf32>
  %1 = ds.reduce %0 {dims = array<i64: 2>, kind = #ds.reduction<sum>} : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %2 = arith.mulf %1, %n : tensor<2x3xf32>
  %3 = arith.addf %eps, %2 : tensor<2x3xf32>
  %4 = math.rsqrt %3 : tensor<2x3xf32>
  %5 = ds.broadcast %4 {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
  %6 = arith.mulf %x, %5 : tensor<2x3x4xf32>
  %7 = ds.broadcast %w {dims = array<i64: 2>} : (tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK-NOT: ds.rms_norm
  // CHECK: return
  %8 = arith.mulf %6, %7 : tensor<2x3x4xf32>
  return %8 : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @rotary_with_equal_halves
func.func @rotary_with_equal_halves(%x: tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32> {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
  // CHECK-DAG: %[[S:.*]] = arith.constant dense<{{\[\[}}5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
  %c = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %s = arith.constant dense<[[5.0, 6.0, 5.0, 6.0], [7.0, 8.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %0 = ds.broadcast %c {dims = array<i64: 2, 3>} : (tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  %1 = ds.broadcast %s {dims = array<i64: 2, 3>} : (tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  %2 = ds.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %3 = ds.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %4 = arith.negf %3 : tensor<2x3x2x2xf32>
  %5 = ds.concat %4, %2 {dim = 3 : i64} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
  %6 = arith.mulf %x, %0 : tensor<2x3x2x4xf32>
  %7 = arith.mulf %5, %1 : tensor<2x3x2x4xf32>
  // CHECK: ds.rotary_embedding %arg0, %[[C]], %[[S]]
  %8 = arith.addf %6, %7 : tensor<2x3x2x4xf32>
  return %8 : tensor<2x3x2x4xf32>
}

// CHECK-LABEL: func.func @unequal_halves_are_no_rotary
func.func @unequal_halves_are_no_rotary(%x: tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 5.0]]> : tensor<2x4xf32>
  %0 = ds.broadcast %c {dims = array<i64: 2, 3>} : (tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  %2 = ds.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %3 = ds.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
  %4 = arith.negf %3 : tensor<2x3x2x2xf32>
  %5 = ds.concat %4, %2 {dim = 3 : i64} : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
  %6 = arith.mulf %x, %0 : tensor<2x3x2x4xf32>
  %7 = arith.mulf %5, %0 : tensor<2x3x2x4xf32>
  // CHECK-NOT: ds.rotary_embedding
  // CHECK: return
  %8 = arith.addf %6, %7 : tensor<2x3x2x4xf32>
  return %8 : tensor<2x3x2x4xf32>
}
