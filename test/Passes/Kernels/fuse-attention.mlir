// RUN: ds-opt %s --ds-fuse-attention --ds-verify-layouts | FileCheck %s
// RUN: ds-opt %s --check-each-pass --ds-fuse-attention -o /dev/null
// RUN: ds-opt %s --ds-fuse-attention --ds-decompose-composites --ds-verify-layouts | FileCheck %s --check-prefix=NONE

ds.mesh @mesh <dp = 2, tp = 2>

// What it leaves is decomposed.
// NONE-NOT: ds.attention

// CHECK-LABEL: func.func @an_attention_is_one_kernel
// CHECK-SAME:  (%[[Q:[^:]*]]: {{[^%]*}}%[[K:[^:]*]]: {{[^%]*}}%[[V:[^:]*]]: tensor
func.func @an_attention_is_one_kernel(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x7x8xf32> {ds.name = "k"}, %v: tensor<2x4x7x3xf32> {ds.name = "v"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[Y:.*]], %[[M:.*]], %[[L:.*]] = ds.fused_attention %[[Q]], %[[K]], %[[V]] {causal, indices = "bksd,bktd,bkte->bkse,bks,bks", scale = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  %y = ds.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> tensor<2x4x6x3xf32>
  return %y : tensor<2x4x6x3xf32>
}

// CHECK-LABEL: func.func @groups_of_queries_are_a_dim
// CHECK-SAME:  (%[[Q:[^:]*]]: {{[^%]*}}%[[K:[^:]*]]: {{[^%]*}}%[[V:[^:]*]]: tensor
func.func @groups_of_queries_are_a_dim(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x2x7x8xf32> {ds.name = "k"}, %v: tensor<2x2x7x3xf32> {ds.name = "v"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}) {
  // CHECK-NEXT: %[[G:.*]] = ds.reshape %[[Q]] : {{.*}} -> tensor<2x2x2x6x8xf32>
  // CHECK-NEXT: %[[Y:.*]], %[[M:.*]], %[[L:.*]] = ds.fused_attention %[[G]], %[[K]], %[[V]] {indices = "bkgsd,bktd,bkte->bkgse,bkgs,bkgs", {{.*}} -> (tensor<2x2x2x6x3xf32>, tensor<2x2x2x6xf32>, tensor<2x2x2x6xf32>)
  // CHECK-NEXT: ds.reshape %[[Y]] : {{.*}} -> tensor<2x4x6x3xf32>
  %y = ds.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>) -> tensor<2x4x6x3xf32>
  return %y : tensor<2x4x6x3xf32>
}

// CHECK-LABEL: func.func @a_gradient_reads_the_statistics_of_its_attention
// CHECK-SAME:  (%[[Q:[^:]*]]: {{[^%]*}}%[[K:[^:]*]]: {{[^%]*}}%[[V:[^:]*]]: tensor
func.func @a_gradient_reads_the_statistics_of_its_attention(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x7x8xf32> {ds.name = "k"}, %v: tensor<2x4x7x3xf32> {ds.name = "v"}, %g: tensor<2x4x6x3xf32> {ds.name = "g"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}, tensor<2x4x6x8xf32> {ds.name = "dq"}, tensor<2x4x7x8xf32> {ds.name = "dk"}, tensor<2x4x7x3xf32> {ds.name = "dv"}) {
  // CHECK-NEXT: %[[Y:.*]], %[[M:.*]], %[[L:.*]] = ds.fused_attention %
  // CHECK-NEXT: %[[D:.*]]:3 = ds.fused_attention_grad %[[Q]], %[[K]], %[[V]], %[[Y]], %[[M]], %[[L]], %{{.*}} {causal, indices = "bksd,bktd,bkte,bkse,bks,bks,bkse->bksd,bktd,bkte", scale = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[Y]], %[[D]]#0, %[[D]]#1, %[[D]]#2
  %y = ds.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> tensor<2x4x6x3xf32>
  %d:3 = ds.attention_grad %q, %k, %v, %g {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf32>, tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>
}

// CHECK-LABEL: func.func @a_gradient_without_an_attention_computes_it
// CHECK-SAME:  (%[[Q:[^:]*]]: {{[^%]*}}%[[K:[^:]*]]: {{[^%]*}}%[[V:[^:]*]]: tensor
func.func @a_gradient_without_an_attention_computes_it(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x2x7x8xf32> {ds.name = "k"}, %v: tensor<2x2x7x3xf32> {ds.name = "v"}, %g: tensor<2x4x6x3xf32> {ds.name = "g"})
    -> (tensor<2x4x6x8xf32> {ds.name = "dq"}, tensor<2x2x7x8xf32> {ds.name = "dk"}, tensor<2x2x7x3xf32> {ds.name = "dv"}) {
  // CHECK:     %[[Y:.*]], %[[M:.*]], %[[L:.*]] = ds.fused_attention %
  // CHECK:     ds.fused_attention_grad %{{.*}}, %[[K]], %[[V]], %[[Y]], %[[M]], %[[L]], %
  // CHECK-NOT: ds.attention_grad %[[Q]]
  %d:3 = ds.attention_grad %q, %k, %v, %g {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>)
  return %d#0, %d#1, %d#2 : tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
}

// CHECK-LABEL: func.func @an_attention_of_another_scale_is_another
func.func @an_attention_of_another_scale_is_another(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x7x8xf32> {ds.name = "k"}, %v: tensor<2x4x7x3xf32> {ds.name = "v"}, %g: tensor<2x4x6x3xf32> {ds.name = "g"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}, tensor<2x4x6x8xf32> {ds.name = "dq"}, tensor<2x4x7x8xf32> {ds.name = "dk"}, tensor<2x4x7x3xf32> {ds.name = "dv"}) {
  // CHECK: ds.fused_attention %{{.*}} scale = 2.500000e-01
  // CHECK: %[[Y:.*]], %[[M:.*]], %[[L:.*]] = ds.fused_attention %{{.*}} scale = 5.000000e-01
  // CHECK: ds.fused_attention_grad %{{.*}}, %[[Y]], %[[M]], %[[L]], %
  %y = ds.attention %q, %k, %v {scale = 0.25 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> tensor<2x4x6x3xf32>
  %d:3 = ds.attention_grad %q, %k, %v, %g {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf32>, tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>
}

// CHECK-LABEL: func.func @an_attention_without_the_mask_is_another
func.func @an_attention_without_the_mask_is_another(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x7x8xf32> {ds.name = "k"}, %v: tensor<2x4x7x3xf32> {ds.name = "v"}, %g: tensor<2x4x6x3xf32> {ds.name = "g"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}, tensor<2x4x6x8xf32> {ds.name = "dq"}, tensor<2x4x7x8xf32> {ds.name = "dk"}, tensor<2x4x7x3xf32> {ds.name = "dv"}) {
  // CHECK: ds.fused_attention %{{.*}} {indices
  // CHECK: %[[Y:.*]], %[[M:.*]], %[[L:.*]] = ds.fused_attention %{{.*}} {causal, indices
  // CHECK: ds.fused_attention_grad %{{.*}}, %[[Y]], %[[M]], %[[L]], %
  %y = ds.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>) -> tensor<2x4x6x3xf32>
  %d:3 = ds.attention_grad %q, %k, %v, %g {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf32>, tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>
}

// CHECK-LABEL: func.func @a_bias_per_batch_and_key
func.func @a_bias_per_batch_and_key(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x7x8xf32> {ds.name = "k"}, %v: tensor<2x4x7x3xf32> {ds.name = "v"}, %bias: tensor<2x1x1x7xf32> {ds.name = "bias"}, %g: tensor<2x4x6x3xf32> {ds.name = "g"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}, tensor<2x4x6x8xf32> {ds.name = "dq"}, tensor<2x4x7x8xf32> {ds.name = "dk"}, tensor<2x4x7x3xf32> {ds.name = "dv"}) {
  // CHECK: %[[B:.*]] = ds.reshape %{{.*}} -> tensor<2x7xf32>
  // CHECK: ds.fused_attention %{{.*}}, %[[B]] {{{.*}}indices = "bksd,bktd,bkte,bt->bkse,bks,bks"
  // CHECK: ds.fused_attention_grad %{{.*}}indices = "bksd,bktd,bkte,bkse,bks,bks,bkse,bt->bksd,bktd,bkte"
  %y = ds.attention %q, %k, %v, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x1x1x7xf32>) -> tensor<2x4x6x3xf32>
  %d:3 = ds.attention_grad %q, %k, %v, %g, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>, tensor<2x1x1x7xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf32>, tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>
}

// CHECK-LABEL: func.func @a_bias_per_head_and_key
func.func @a_bias_per_head_and_key(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x2x7x8xf32> {ds.name = "k"}, %v: tensor<2x2x7x3xf32> {ds.name = "v"}, %bias: tensor<1x4x1x7xf32> {ds.name = "bias"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}) {
  // CHECK: ds.reshape %{{.*}} -> tensor<4x7xf32>
  // CHECK: %[[B:.*]] = ds.reshape %{{.*}} -> tensor<2x2x7xf32>
  // CHECK: ds.fused_attention %{{.*}}, %[[B]] {{{.*}}indices = "bkgsd,bktd,bkte,kgt->bkgse,bkgs,bkgs"
  %y = ds.attention %q, %k, %v, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<1x4x1x7xf32>) -> tensor<2x4x6x3xf32>
  return %y : tensor<2x4x6x3xf32>
}

// CHECK-LABEL: func.func @batch_and_heads_stay_split
func.func @batch_and_heads_stay_split(%q: tensor<2x4x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "q"}, %k: tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "k"}, %v: tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "v"}, %bias: tensor<1x4x1x7xf32, #ds.layout<[{}, {tp}, {}, {}]>> {ds.name = "bias"}, %g: tensor<2x4x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "g"})
    -> (tensor<2x4x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "y"}, tensor<2x4x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "dq"}, tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "dk"}, tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>> {ds.name = "dv"}) {
  // CHECK: ds.fused_attention %{{.*}} -> (tensor<2x2x2x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>, tensor<2x2x2x6xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x2x6xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>)
  // CHECK: ds.fused_attention_grad %{{.*}} -> (tensor<2x2x2x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}, {}]>>, tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>)
  // CHECK: return
  %y = ds.attention %q, %k, %v, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<1x4x1x7xf32, #ds.layout<[{}, {tp}, {}, {}]>>) -> tensor<2x4x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>
  %d:3 = ds.attention_grad %q, %k, %v, %g, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x4x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<1x4x1x7xf32, #ds.layout<[{}, {tp}, {}, {}]>>) -> (tensor<2x4x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x4x6x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x8xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>, tensor<2x2x7x3xf32, #ds.layout<[{dp}, {tp}, {}, {}]>>
}

// CHECK-LABEL: func.func @leaves_a_bias_per_query_alone
func.func @leaves_a_bias_per_query_alone(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x7x8xf32> {ds.name = "k"}, %v: tensor<2x4x7x3xf32> {ds.name = "v"}, %bias: tensor<1x1x6x7xf32> {ds.name = "bias"}, %g: tensor<2x4x6x3xf32> {ds.name = "g"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}, tensor<2x4x6x8xf32> {ds.name = "dq"}, tensor<2x4x7x8xf32> {ds.name = "dk"}, tensor<2x4x7x3xf32> {ds.name = "dv"}) {
  // CHECK:     ds.attention %
  // CHECK:     ds.attention_grad %
  // CHECK-NOT: ds.fused_attention
  %y = ds.attention %q, %k, %v, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<1x1x6x7xf32>) -> tensor<2x4x6x3xf32>
  %d:3 = ds.attention_grad %q, %k, %v, %g, %bias {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>, tensor<1x1x6x7xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf32>, tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>
}

// CHECK-LABEL: func.func @leaves_half_precision_alone
func.func @leaves_half_precision_alone(%q: tensor<2x4x6x8xf16> {ds.name = "q"}, %k: tensor<2x4x7x8xf16> {ds.name = "k"}, %v: tensor<2x4x7x3xf16> {ds.name = "v"}, %g: tensor<2x4x6x3xf16> {ds.name = "g"})
    -> (tensor<2x4x6x3xf16> {ds.name = "y"}, tensor<2x4x6x8xf16> {ds.name = "dq"}, tensor<2x4x7x8xf16> {ds.name = "dk"}, tensor<2x4x7x3xf16> {ds.name = "dv"}) {
  // CHECK:     ds.attention %
  // CHECK:     ds.attention_grad %
  // CHECK-NOT: ds.fused_attention
  %y = ds.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf16>, tensor<2x4x7x8xf16>, tensor<2x4x7x3xf16>) -> tensor<2x4x6x3xf16>
  %d:3 = ds.attention_grad %q, %k, %v, %g {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf16>, tensor<2x4x7x8xf16>, tensor<2x4x7x3xf16>, tensor<2x4x6x3xf16>) -> (tensor<2x4x6x8xf16>, tensor<2x4x7x8xf16>, tensor<2x4x7x3xf16>)
  return %y, %d#0, %d#1, %d#2 : tensor<2x4x6x3xf16>, tensor<2x4x6x8xf16>, tensor<2x4x7x8xf16>, tensor<2x4x7x3xf16>
}

// CHECK-LABEL: func.func @leaves_a_mask_of_fewer_keys_than_queries_alone
func.func @leaves_a_mask_of_fewer_keys_than_queries_alone(%q: tensor<2x4x6x8xf32> {ds.name = "q"}, %k: tensor<2x4x5x8xf32> {ds.name = "k"}, %v: tensor<2x4x5x3xf32> {ds.name = "v"})
    -> (tensor<2x4x6x3xf32> {ds.name = "y"}) {
  // CHECK:     ds.attention %
  // CHECK-NOT: ds.fused_attention
  %y = ds.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x4x6x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x6x3xf32>
  return %y : tensor<2x4x6x3xf32>
}
