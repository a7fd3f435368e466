// RUN: ds-opt %s --verify-roundtrip --ds-verify-layouts | FileCheck %s

ds.mesh @mesh <dp = 2, tp = 2>

// CHECK-LABEL: func.func @reads_its_parts_of_one_tensor
func.func @reads_its_parts_of_one_tensor(%x: tensor<2x8x3x4x16xf32>) -> tensor<2x8x4x16xf32> {
  // CHECK: ds.fused_attention %{{.*}} {causal, indices = "bs0kd,bt1kd,bt2ke->bske,bks,bks", {{.*}}} : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>)
  %y, %m, %l = ds.fused_attention %x, %x, %x {indices = "bs0kd,bt1kd,bt2ke->bske,bks,bks", scale = 0.25 : f64, causal}
      : (tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>, tensor<2x8x3x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>)
  return %y : tensor<2x8x4x16xf32>
}

// CHECK-LABEL: func.func @batch_and_heads_are_split
func.func @batch_and_heads_are_split(%q: tensor<4x2x2x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>, %k: tensor<4x2x5x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>,
    %v: tensor<4x2x5x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, %bias: tensor<4x5xf32, #ds.layout<[{dp}, {}]>>) -> tensor<4x2x2x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>> {
  // CHECK: ds.fused_attention {{.*}} -> (tensor<4x2x2x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>, tensor<4x2x2x6xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<4x2x2x6xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>)
  %y, %m, %l = ds.fused_attention %q, %k, %v, %bias {indices = "bkgsd,bktd,bkte,bt->bkgse,bkgs,bkgs", scale = 0.5 : f64}
      : (tensor<4x2x2x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>, tensor<4x2x5x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>,
         tensor<4x2x5x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<4x5xf32, #ds.layout<[{dp}, {}]>>)
      -> (tensor<4x2x2x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>, tensor<4x2x2x6xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<4x2x2x6xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>)
  return %y : tensor<4x2x2x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>
}
