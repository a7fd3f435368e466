// RUN: ds-opt %s --verify-roundtrip --ds-verify-layouts | FileCheck %s

ds.mesh @mesh <dp = 2, tp = 2>

// CHECK-LABEL: func.func @gives_three_gradients
func.func @gives_three_gradients(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x3xf32>, %y: tensor<2x4x6x3xf32>, %l: tensor<2x4x6xf32>, %bias: tensor<4x7xf32>) {
  // CHECK: ds.fused_attention_grad {{.*}} -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  %d:3 = ds.fused_attention_grad %q, %k, %v, %y, %l, %l, %y, %bias {indices = "bksd,bktd,bkte,bkse,bks,bks,bkse,kt->bksd,bktd,bkte", scale = 0.5 : f64, causal}
      : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6x3xf32>, tensor<4x7xf32>)
      -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  return
}

// CHECK-LABEL: func.func @gives_one_tensor_of_three_parts
func.func @gives_one_tensor_of_three_parts(%x: tensor<2x8x3x4x16xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>, %y: tensor<2x8x4x16xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>,
    %l: tensor<2x4x8xf32, #ds.layout<[{dp}, {tp}, {}]>>) {
  // CHECK: ds.fused_attention_grad {{.*}} -> tensor<2x8x3x4x16xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>
  %d = ds.fused_attention_grad %x, %x, %x, %y, %l, %l, %y {indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske->bs0kd,bt1kd,bt2ke", scale = 0.25 : f64}
      : (tensor<2x8x3x4x16xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>, tensor<2x8x3x4x16xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>, tensor<2x8x3x4x16xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>, tensor<2x8x4x16xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>, tensor<2x4x8xf32, #ds.layout<[{dp}, {tp}, {}]>>, tensor<2x4x8xf32, #ds.layout<[{dp}, {tp}, {}]>>, tensor<2x8x4x16xf32, #ds.layout<[{dp}, {}, {tp}, {}]>>)
      -> tensor<2x8x3x4x16xf32, #ds.layout<[{dp}, {}, {}, {tp}, {}]>>
  return
}
