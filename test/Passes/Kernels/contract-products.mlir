// RUN: ds-opt %s --ds-contract-products --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-contract-products -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @a_sum_with_a_product
// CHECK-SAME:  (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}}, %[[C:[^:]*]]: {{.*}})
func.func @a_sum_with_a_product(%a: tensor<8xf32> {ds.name = "a"}, %b: tensor<8xf32> {ds.name = "b"}, %c: tensor<8xf32> {ds.name = "c"})
    -> (tensor<8xf32> {ds.name = "left"}, tensor<8xf32> {ds.name = "right"}) {
  // CHECK-NEXT: %[[L:.*]] = math.fma %[[A]], %[[B]], %[[C]] : tensor<8xf32>
  // CHECK-NEXT: %[[R:.*]] = math.fma %[[A]], %[[B]], %[[C]] : tensor<8xf32>
  // CHECK-NEXT: return %[[L]], %[[R]]
  %p = arith.mulf %a, %b : tensor<8xf32>
  %y = arith.addf %p, %c : tensor<8xf32>
  %q = arith.mulf %a, %b : tensor<8xf32>
  %z = arith.addf %c, %q : tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @a_difference_with_a_product
// CHECK-SAME:  (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}}, %[[C:[^:]*]]: {{.*}})
func.func @a_difference_with_a_product(%a: tensor<8xf32> {ds.name = "a"}, %b: tensor<8xf32> {ds.name = "b"}, %c: tensor<8xf32> {ds.name = "c"})
    -> (tensor<8xf32> {ds.name = "left"}, tensor<8xf32> {ds.name = "right"}) {
  // CHECK-DAG: %[[N:.*]] = arith.negf %[[C]]
  // CHECK-DAG: %[[L:.*]] = math.fma %[[A]], %[[B]], %[[N]] : tensor<8xf32>
  // CHECK-DAG: %[[M:.*]] = arith.negf %[[A]]
  // CHECK-DAG: %[[R:.*]] = math.fma %[[M]], %[[B]], %[[C]] : tensor<8xf32>
  // CHECK:     return %[[L]], %[[R]]
  %p = arith.mulf %a, %b : tensor<8xf32>
  %y = arith.subf %p, %c : tensor<8xf32>
  %q = arith.mulf %a, %b : tensor<8xf32>
  %z = arith.subf %c, %q : tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @a_constant_is_negated_here
// CHECK-SAME:  (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}})
func.func @a_constant_is_negated_here(%a: tensor<8xf32> {ds.name = "a"}, %b: tensor<8xf32> {ds.name = "b"}) -> (tensor<8xf32> {ds.name = "y"}) {
  // CHECK: %[[T:.*]] = arith.constant dense<-2.000000e+00> : tensor<8xf32>
  // CHECK: math.fma %[[A]], %[[B]], %[[T]]
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %p = arith.mulf %a, %b : tensor<8xf32>
  %y = arith.subf %p, %two : tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @one_of_two_products
func.func @one_of_two_products(%a: tensor<8xf32, #ds.layout<[{dp}]>> {ds.name = "a"}, %b: tensor<8xf32, #ds.layout<[{dp}]>> {ds.name = "b"}) -> (tensor<8xf32, #ds.layout<[{dp}]>> {ds.name = "y"}) {
  // CHECK: %[[Q:.*]] = arith.mulf %[[B:.*]], %[[B]]
  // CHECK: math.fma %[[A:.*]], %[[A]], %[[Q]] : tensor<8xf32, #ds.layout<[{dp}]>>
  %p = arith.mulf %a, %a : tensor<8xf32, #ds.layout<[{dp}]>>
  %q = arith.mulf %b, %b : tensor<8xf32, #ds.layout<[{dp}]>>
  %y = arith.addf %p, %q : tensor<8xf32, #ds.layout<[{dp}]>>
  return %y : tensor<8xf32, #ds.layout<[{dp}]>>
}

// CHECK-LABEL: func.func @leaves_a_product_with_other_readers_alone
func.func @leaves_a_product_with_other_readers_alone(%a: tensor<8xf32> {ds.name = "a"}, %b: tensor<8xf32> {ds.name = "b"})
    -> (tensor<8xf32> {ds.name = "product"}, tensor<8xf32> {ds.name = "sum"}) {
  // CHECK:     arith.mulf
  // CHECK:     arith.addf
  // CHECK-NOT: math.fma
  %p = arith.mulf %a, %b : tensor<8xf32>
  %y = arith.addf %p, %b : tensor<8xf32>
  return %p, %y : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @leaves_half_precision_alone
func.func @leaves_half_precision_alone(%a: tensor<8xbf16> {ds.name = "a"}, %b: tensor<8xbf16> {ds.name = "b"}) -> (tensor<8xbf16> {ds.name = "y"}) {
  // CHECK:     arith.mulf
  // CHECK:     arith.addf
  %p = arith.mulf %a, %b : tensor<8xbf16>
  %y = arith.addf %p, %b : tensor<8xbf16>
  return %y : tensor<8xbf16>
}
