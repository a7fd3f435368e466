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

// CHECK-LABEL: func.func @a_sigmoid_in_primitives
func.func @a_sigmoid_in_primitives(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = ds.sigmoid %arg0
  // CHECK-NEXT: return %[[S]]
  %one = arith.constant dense<1.0> : tensor<2x4xf32>
  %n = arith.negf %x : tensor<2x4xf32>
  %e = math.exp %n : tensor<2x4xf32>
  %d = arith.addf %one, %e : tensor<2x4xf32>
  %s = arith.divf %one, %d : tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}

// Both logarithms of a binary cross entropy; the sigmoids themselves are gone.
// CHECK-LABEL: func.func @logarithms_of_a_sigmoid
func.func @logarithms_of_a_sigmoid(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NOT: ds.sigmoid
  // CHECK-DAG: %[[N:.*]] = arith.negf %arg0
  // CHECK-DAG: %[[A:.*]] = ds.softplus %[[N]]
  // CHECK-DAG: %[[P:.*]] = arith.negf %[[A]]
  // CHECK-DAG: %[[B:.*]] = ds.softplus %arg0
  // CHECK-DAG: %[[Q:.*]] = arith.negf %[[B]]
  // CHECK:     return %[[P]], %[[Q]]
  %one = arith.constant dense<1.0> : tensor<2x4xf32>
  %s = ds.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %p = math.log %s : tensor<2x4xf32>
  %rest = arith.subf %one, %s : tensor<2x4xf32>
  %q = math.log %rest : tensor<2x4xf32>
  return %p, %q : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @the_logarithm_of_another_difference_stays
func.func @the_logarithm_of_another_difference_stays(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: ds.sigmoid
  // CHECK: math.log
  %two = arith.constant dense<2.0> : tensor<2x4xf32>
  %s = ds.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %rest = arith.subf %two, %s : tensor<2x4xf32>
  %q = math.log %rest : tensor<2x4xf32>
  return %q : tensor<2x4xf32>
}
