// Expected values: PyTorch in float64.
// RUN: ds-interpret %s --function norms --input x=0.5,-1,2,3,0,-2 --input g=1,2,3 --input b=0.5,0,-0.5 | FileCheck %s --check-prefix=NORMS
// RUN: ds-interpret %s --function losses --input x=0.5,-1,2,3,0,-2 --input labels=2,-100 | FileCheck %s --check-prefix=LOSSES
// RUN: ds-interpret %s --function attention --input q=1,0,0,1,2,1,-1,1 --input k=1,1,0,2,-1,0.5 --input v=1,2,4 | FileCheck %s --check-prefix=ATTENTION
// RUN: ds-interpret %s --function fused --input x=1,0,0,1,2,1,-1,1,1,1,0,2,-1,0.5,1,2,4,0.5 --input bias=0.5,-1,0.25 --input g=1,-1,0.5,2,1,0 | FileCheck %s --check-prefix=FUSED
// RUN: ds-interpret %s --function images --input x=0,1,2,3,4,5,6,7,8 --input w=1,2,3,4 | FileCheck %s --check-prefix=IMAGES
// RUN: ds-interpret %s --function picks --input x=1,5,3,5,2,0,-1,7 | FileCheck %s --check-prefix=PICKS
// RUN: ds-interpret %s --function batched --input a=1,2,3,4,5,6,7,8 --input b=1,0,2,1 | FileCheck %s --check-prefix=BATCHED

// NORMS: softmax = [2, 3] 0.17529 0.0391126 0.785597 0.946499 0.0471234 0.00637746
// NORMS: down = [2, 3] 0.0758582 0.268941 0.982014 0.924142 0.731059 0.0179862
// NORMS: log = [2, 3] -1.74131 -3.24131 -0.241311 -0.0549852 -3.05499 -5.05499
// NORMS: layer = [2, 3] 0.5 -2.44948 3.17422 1.79777 -0.324442 -3.90665
// NORMS: no_bias = [2, 3] 0 -2.44948 3.67422 1.29777 -0.324442 -3.40665
// NORMS: rms = [2, 3] 0.377963 -1.51185 4.53556 1.44115 0 -2.8823
func.func @norms(%x: tensor<2x3xf32> {ds.name = "x"}, %g: tensor<3xf32> {ds.name = "g"}, %b: tensor<3xf32> {ds.name = "b"})
    -> (tensor<2x3xf32> {ds.name = "softmax"}, tensor<2x3xf32> {ds.name = "down"}, tensor<2x3xf32> {ds.name = "log"},
        tensor<2x3xf32> {ds.name = "layer"}, tensor<2x3xf32> {ds.name = "no_bias"}, tensor<2x3xf32> {ds.name = "rms"}) {
  %softmax = ds.softmax %x {dim = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %down = ds.softmax %x {dim = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %log = ds.log_softmax %x {dim = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %layer = ds.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %no_bias = ds.layer_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %rms = ds.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %softmax, %down, %log, %layer, %no_bias, %rms
      : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// LOSSES: result0 = [2] 0.241311 0
func.func @losses(%x: tensor<2x3xf32> {ds.name = "x"}, %labels: tensor<2xi64> {ds.name = "labels"}) -> tensor<2xf32> {
  %rows = ds.cross_entropy %x, %labels {ignore_index = -100 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %rows : tensor<2xf32>
}

// ATTENTION: causal = [1, 2, 2, 1] 1.37754 2.16268 1.37754 2.55421
// ATTENTION: full = [1, 2, 2, 1] 1.86617 2.16268 1.539 2.55421
func.func @attention(%q: tensor<1x2x2x2xf32> {ds.name = "q"}, %k: tensor<1x1x3x2xf32> {ds.name = "k"}, %v: tensor<1x1x3x1xf32> {ds.name = "v"})
    -> (tensor<1x2x2x1xf32> {ds.name = "causal"}, tensor<1x2x2x1xf32> {ds.name = "full"}) {
  %causal = ds.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<1x2x2x2xf32>, tensor<1x1x3x2xf32>, tensor<1x1x3x1xf32>) -> tensor<1x2x2x1xf32>
  %full = ds.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<1x2x2x2xf32>, tensor<1x1x3x2xf32>, tensor<1x1x3x1xf32>) -> tensor<1x2x2x1xf32>
  return %causal, %full : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>
}

// IMAGES: convolved = [1, 1, 2, 2] 0 11 30 67
// IMAGES: pooled = [1, 1, 2, 2] 4 5 7 8
func.func @images(%x: tensor<1x1x3x3xf32> {ds.name = "x"}, %w: tensor<1x1x2x2xf32> {ds.name = "w"})
    -> (tensor<1x1x2x2xf32> {ds.name = "convolved"}, tensor<1x1x2x2xf32> {ds.name = "pooled"}) {
  %convolved = ds.convolution %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %pooled = ds.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  return %convolved, %pooled : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// PICKS: values = [2, 3] 5 5 3 7 2 0
// PICKS: ids = [2, 3] 1 3 2 3 0 1
func.func @picks(%x: tensor<2x4xf32> {ds.name = "x"}) -> (tensor<2x3xf32> {ds.name = "values"}, tensor<2x3xi64> {ds.name = "ids"}) {
  %values, %ids = ds.top_k %x {dim = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %values, %ids : tensor<2x3xf32>, tensor<2x3xi64>
}

// sum over k of a[b, m, k] b[k, n], with the result's dims in another order.
// BATCHED: y = [2, 2, 2] 5 2 17 6 11 4 23 8
func.func @batched(%a: tensor<2x2x2xf32> {ds.name = "a"}, %b: tensor<2x2xf32> {ds.name = "b"}) -> (tensor<2x2x2xf32> {ds.name = "y"}) {
  %y = ds.matmul %a, %b {indices = "bmk,kn->mbn"} : (tensor<2x2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  return %y : tensor<2x2x2xf32>
}

// Query, key and value are parts of one tensor, and so are their gradients.
// FUSED: attended = [1, 3, 1, 2] 2 1 1.76159 1.1192 2.54102 0.903592
// FUSED: row_max = [1, 1, 3] 0.5 1 0.75
// FUSED: row_sum = [1, 1, 3] 1 1.13534 1.74187
// FUSED: gradient = [1, 3, 3, 1, 2] 0 0 0.207797 -0.130147 2.0145 0.761594 0.0524968 {{[^ ]+}} 0.0462164 0.00314022 0.137297 0.238406 0.1553 0.254013 -0.254013 0.127007 0.348207 0
func.func @fused(%x: tensor<1x3x3x1x2xf32> {ds.name = "x"}, %bias: tensor<1x3xf32> {ds.name = "bias"}, %g: tensor<1x3x1x2xf32> {ds.name = "g"})
    -> (tensor<1x3x1x2xf32> {ds.name = "attended"}, tensor<1x1x3xf32> {ds.name = "row_max"}, tensor<1x1x3xf32> {ds.name = "row_sum"}, tensor<1x3x3x1x2xf32> {ds.name = "gradient"}) {
  %y, %m, %l = ds.fused_attention %x, %x, %x, %bias {indices = "bs0kd,bt1kd,bt2ke,bt->bske,bks,bks", scale = 0.5 : f64, causal}
      : (tensor<1x3x3x1x2xf32>, tensor<1x3x3x1x2xf32>, tensor<1x3x3x1x2xf32>, tensor<1x3xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>)
  %d = ds.fused_attention_grad %x, %x, %x, %y, %m, %l, %g, %bias {indices = "bs0kd,bt1kd,bt2ke,bske,bks,bks,bske,bt->bs0kd,bt1kd,bt2ke", scale = 0.5 : f64, causal}
      : (tensor<1x3x3x1x2xf32>, tensor<1x3x3x1x2xf32>, tensor<1x3x3x1x2xf32>, tensor<1x3x1x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x3x1x2xf32>, tensor<1x3xf32>)
      -> tensor<1x3x3x1x2xf32>
  return %y, %m, %l, %d : tensor<1x3x1x2xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x3x3x1x2xf32>
}
