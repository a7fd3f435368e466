// RUN: ds-opt %s --ds-fuse-epilogues --canonicalize --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-fuse-epilogues -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @a_bias_and_an_activation_belong_to_the_matmul
// CHECK-SAME:  (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
func.func @a_bias_and_an_activation_belong_to_the_matmul(%x: tensor<4x8xf32> {ds.name = "x"}, %w: tensor<8x6xf32> {ds.name = "w"}, %b: tensor<6xf32> {ds.name = "b"}) -> (tensor<4x6xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]] = ds.fused_matmul %[[X]], %[[W]], %[[B]] {activation = #ds.activation<gelu_erf>, bias_indices = "n"
  // CHECK-NEXT: return %[[Y]]
  %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %s = ds.broadcast %b {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
  %a = arith.addf %m, %s : tensor<4x6xf32>
  %y = ds.gelu %a {kind = #ds.gelu_kind<erf>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @an_activation_is_found_behind_a_reshape
func.func @an_activation_is_found_behind_a_reshape(%x: tensor<4x8xf32> {ds.name = "x"}, %w: tensor<8x6xf32> {ds.name = "w"}) -> (tensor<2x2x6xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[M:.*]] = ds.fused_matmul {{.*}} {activation = #ds.activation<silu>
  // CHECK-NEXT: %[[R:.*]] = ds.reshape %[[M]]
  // CHECK-NEXT: return %[[R]]
  %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %r = ds.reshape %m : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
  %y = ds.silu %r : (tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
  return %y : tensor<2x2x6xf32>
}

// CHECK-LABEL: func.func @a_relu_is_a_choice_of_zero
func.func @a_relu_is_a_choice_of_zero(%x: tensor<4x8xf32> {ds.name = "x"}, %w: tensor<8x6xf32> {ds.name = "w"}) -> (tensor<4x6xf32> {ds.name = "y"}, tensor<4x6xf32> {ds.name = "z"}) {
  // CHECK:     ds.fused_matmul {{.*}} {activation = #ds.activation<relu>
  // CHECK:     %[[M:.*]] = ds.matmul
  // CHECK:     arith.cmpf ole, %[[M]]
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %one = arith.constant dense<1.0> : tensor<4x6xf32>
  %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %negative = arith.cmpf ole, %m, %zero : tensor<4x6xf32>
  %y = arith.select %negative, %zero, %m : tensor<4x6xi1>, tensor<4x6xf32>
  %n = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %low = arith.cmpf ole, %n, %one : tensor<4x6xf32>
  %z = arith.select %low, %one, %n : tensor<4x6xi1>, tensor<4x6xf32>
  return %y, %z : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @leaves_a_product_that_its_gradient_reads_alone
func.func @leaves_a_product_that_its_gradient_reads_alone(%x: tensor<4x8xf32> {ds.name = "x"}, %w: tensor<8x6xf32> {ds.name = "w"}) -> (tensor<4x6xf32> {ds.name = "y"}, tensor<4x6xf32> {ds.name = "z"}) {
  // CHECK: ds.silu
  %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %y = ds.silu %m : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y, %m : tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @leaves_a_bias_along_two_indices_alone
func.func @leaves_a_bias_along_two_indices_alone(%x: tensor<4x8xf32> {ds.name = "x"}, %w: tensor<8x6xf32> {ds.name = "w"}, %b: tensor<4x6xf32> {ds.name = "b"}) -> (tensor<4x6xf32> {ds.name = "y"}) {
  // CHECK: arith.addf
  %m = ds.matmul %x, %w {indices = "mk,kn->mn"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %y = arith.addf %m, %b : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
