// RUN: ds-opt %s --ds-decompose-updates --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-decompose-updates -o /dev/null

ds.mesh @mesh <dp = 2>

// CHECK-LABEL: func.func @an_update_stays_on_its_shard
func.func @an_update_stays_on_its_shard(%p: tensor<8xf32, #ds.layout<[{}], flat = {dp}>> {ds.name = "p"}, %r: tensor<f32> {ds.name = "r"}, %t: tensor<f32> {ds.name = "t"})
    -> (tensor<8xf32> {ds.name = "y"}) {
  // CHECK-NOT: ds.sgd_update
  // CHECK:     %[[N:.*]] = arith.subf {{.*}} : tensor<8xf32, #ds.layout<[{}], flat = {dp}>>
  // CHECK:     ds.all_gather %[[N]]
  %n:2 = ds.sgd_update %p, %p, %p, %r, %t {momentum = 0.875 : f64, dampening = 0.0 : f64, decay = 0.0 : f64}
      : (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<f32>, tensor<f32>)
      -> (tensor<8xf32, #ds.layout<[{}], flat = {dp}>>, tensor<8xf32, #ds.layout<[{}], flat = {dp}>>)
  %y = ds.all_gather %n#0 over "dp" : tensor<8xf32, #ds.layout<[{}], flat = {dp}>> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @the_scalars_of_updates_are_made_once
func.func @the_scalars_of_updates_are_made_once(%p: tensor<8xf32> {ds.name = "p"}, %q: tensor<4xf32> {ds.name = "q"}, %r: tensor<f32> {ds.name = "r"}, %t: tensor<f32> {ds.name = "t"})
    -> (tensor<8xf32> {ds.name = "y"}, tensor<4xf32> {ds.name = "z"}) {
  // CHECK-COUNT-2: math.expm1
  // CHECK:         %[[KEPT:.*]] = arith.addf {{.*}} : tensor<f32>
  // CHECK:         ds.broadcast %[[KEPT]]
  // CHECK-NOT:     tensor<f32>{{$}}
  // CHECK:         ds.broadcast %[[KEPT]]
  %m:3 = ds.adam_update %p, %p, %p, %p, %r, %t {beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0e-8 : f64, decay = 0.5 : f64, decoupled}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %n:3 = ds.adam_update %q, %q, %q, %q, %r, %t {beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0e-8 : f64, decay = 0.5 : f64, decoupled}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %m#0, %n#0 : tensor<8xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @scalars_of_other_rates_are_others
// CHECK-COUNT-4: math.expm1
func.func @scalars_of_other_rates_are_others(%p: tensor<8xf32> {ds.name = "p"}, %r: tensor<f32> {ds.name = "r"}, %s: tensor<f32> {ds.name = "s"}, %t: tensor<f32> {ds.name = "t"})
    -> (tensor<8xf32> {ds.name = "y"}, tensor<8xf32> {ds.name = "z"}) {
  %m:3 = ds.adam_update %p, %p, %p, %p, %r, %t {beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0e-8 : f64, decay = 0.5 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %n:3 = ds.adam_update %p, %p, %p, %p, %s, %t {beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0e-8 : f64, decay = 0.5 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %m#0, %n#0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @constants_of_one_type_are_made_once
// CHECK:       arith.constant dense<7.500000e-01> : tensor<8xf32>
// CHECK-NOT:   arith.constant dense<7.500000e-01>
// CHECK:       return
func.func @constants_of_one_type_are_made_once(%p: tensor<8xf32> {ds.name = "p"}, %q: tensor<8xf32> {ds.name = "q"}, %r: tensor<f32> {ds.name = "r"}, %t: tensor<f32> {ds.name = "t"})
    -> (tensor<8xf32> {ds.name = "y"}, tensor<8xf32> {ds.name = "z"}) {
  %m:3 = ds.adam_update %p, %p, %p, %p, %r, %t {beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0e-8 : f64, decay = 0.5 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %n:3 = ds.adam_update %q, %q, %q, %q, %r, %t {beta1 = 0.5 : f64, beta2 = 0.75 : f64, epsilon = 1.0e-8 : f64, decay = 0.5 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %m#0, %n#0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @leaves_other_ops_alone
func.func @leaves_other_ops_alone(%x: tensor<8xf32> {ds.name = "x"}) -> (tensor<8xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]] = ds.silu
  // CHECK-NEXT: return %[[Y]]
  %y = ds.silu %x : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
