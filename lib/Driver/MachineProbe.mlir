// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// What a machine is measured with: a transformer of one layer, in the sizes of a small language model. Its training step
// has products of all kinds, attention, norms, a loss, and updates, in the order and with the caches of real steps.
module {
  ds.variable @word_embedding {role = #ds.role<parameter>} : tensor<4096x384xf32>
  ds.variable @position_embedding {role = #ds.role<parameter>} : tensor<256x384xf32>
  ds.variable @attention.norm.weight {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @attention.norm.bias {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @attention.in.weight {role = #ds.role<parameter>} : tensor<384x1152xf32>
  ds.variable @attention.in.bias {role = #ds.role<parameter>} : tensor<1152xf32>
  ds.variable @attention.out.weight {role = #ds.role<parameter>} : tensor<384x384xf32>
  ds.variable @attention.out.bias {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @mlp.norm.weight {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @mlp.norm.bias {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @mlp.in.weight {role = #ds.role<parameter>} : tensor<384x1536xf32>
  ds.variable @mlp.in.bias {role = #ds.role<parameter>} : tensor<1536xf32>
  ds.variable @mlp.out.weight {role = #ds.role<parameter>} : tensor<1536x384xf32>
  ds.variable @mlp.out.bias {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @norm.weight {role = #ds.role<parameter>} : tensor<384xf32>
  ds.variable @norm.bias {role = #ds.role<parameter>} : tensor<384xf32>

  func.func @forward(%input_ids: tensor<8x256xi64> {ds.name = "input_ids"}, %labels: tensor<8x256xi64> {ds.name = "labels"}) -> (tensor<f32> {ds.name = "loss"}) {
    %word_embedding = ds.read @word_embedding : tensor<4096x384xf32>
    %position_embedding = ds.read @position_embedding : tensor<256x384xf32>
    %attention_norm_weight = ds.read @attention.norm.weight : tensor<384xf32>
    %attention_norm_bias = ds.read @attention.norm.bias : tensor<384xf32>
    %attention_in_weight = ds.read @attention.in.weight : tensor<384x1152xf32>
    %attention_in_bias = ds.read @attention.in.bias : tensor<1152xf32>
    %attention_out_weight = ds.read @attention.out.weight : tensor<384x384xf32>
    %attention_out_bias = ds.read @attention.out.bias : tensor<384xf32>
    %mlp_norm_weight = ds.read @mlp.norm.weight : tensor<384xf32>
    %mlp_norm_bias = ds.read @mlp.norm.bias : tensor<384xf32>
    %mlp_in_weight = ds.read @mlp.in.weight : tensor<384x1536xf32>
    %mlp_in_bias = ds.read @mlp.in.bias : tensor<1536xf32>
    %mlp_out_weight = ds.read @mlp.out.weight : tensor<1536x384xf32>
    %mlp_out_bias = ds.read @mlp.out.bias : tensor<384xf32>
    %norm_weight = ds.read @norm.weight : tensor<384xf32>
    %norm_bias = ds.read @norm.bias : tensor<384xf32>
    %tokens = ds.gather_rows %word_embedding, %input_ids : (tensor<4096x384xf32>, tensor<8x256xi64>) -> tensor<8x256x384xf32>
    %positions = ds.broadcast %position_embedding {dims = array<i64: 1, 2>} : (tensor<256x384xf32>) -> tensor<8x256x384xf32>
    %x = arith.addf %tokens, %positions : tensor<8x256x384xf32>
    %x_normal = ds.layer_norm %x, %attention_norm_weight, %attention_norm_bias {epsilon = 1.0e-5 : f64} : (tensor<8x256x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<8x256x384xf32>
    %x_rows = ds.reshape %x_normal : (tensor<8x256x384xf32>) -> tensor<2048x384xf32>
    %qkv_product = ds.matmul %x_rows, %attention_in_weight {indices = "mk,kn->mn"} : (tensor<2048x384xf32>, tensor<384x1152xf32>) -> tensor<2048x1152xf32>
    %qkv_bias = ds.broadcast %attention_in_bias {dims = array<i64: 1>} : (tensor<1152xf32>) -> tensor<2048x1152xf32>
    %qkv_rows = arith.addf %qkv_product, %qkv_bias : tensor<2048x1152xf32>
    %qkv = ds.reshape %qkv_rows : (tensor<2048x1152xf32>) -> tensor<8x256x1152xf32>
    %q_columns = ds.slice %qkv {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<8x256x1152xf32>) -> tensor<8x256x384xf32>
    %k_columns = ds.slice %qkv {offsets = array<i64: 0, 0, 384>, strides = array<i64: 1, 1, 1>} : (tensor<8x256x1152xf32>) -> tensor<8x256x384xf32>
    %v_columns = ds.slice %qkv {offsets = array<i64: 0, 0, 768>, strides = array<i64: 1, 1, 1>} : (tensor<8x256x1152xf32>) -> tensor<8x256x384xf32>
    %q_heads = ds.reshape %q_columns : (tensor<8x256x384xf32>) -> tensor<8x256x6x64xf32>
    %k_heads = ds.reshape %k_columns : (tensor<8x256x384xf32>) -> tensor<8x256x6x64xf32>
    %v_heads = ds.reshape %v_columns : (tensor<8x256x384xf32>) -> tensor<8x256x6x64xf32>
    %q = ds.transpose %q_heads {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x256x6x64xf32>) -> tensor<8x6x256x64xf32>
    %k = ds.transpose %k_heads {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x256x6x64xf32>) -> tensor<8x6x256x64xf32>
    %v = ds.transpose %v_heads {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x256x6x64xf32>) -> tensor<8x6x256x64xf32>
    %attended = ds.attention %q, %k, %v {causal, scale = 1.250000e-01 : f64} : (tensor<8x6x256x64xf32>, tensor<8x6x256x64xf32>, tensor<8x6x256x64xf32>) -> tensor<8x6x256x64xf32>
    %attended_heads = ds.transpose %attended {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x6x256x64xf32>) -> tensor<8x256x6x64xf32>
    %attended_rows = ds.reshape %attended_heads : (tensor<8x256x6x64xf32>) -> tensor<2048x384xf32>
    %out_product = ds.matmul %attended_rows, %attention_out_weight {indices = "mk,kn->mn"} : (tensor<2048x384xf32>, tensor<384x384xf32>) -> tensor<2048x384xf32>
    %out_bias = ds.broadcast %attention_out_bias {dims = array<i64: 1>} : (tensor<384xf32>) -> tensor<2048x384xf32>
    %out_rows = arith.addf %out_product, %out_bias : tensor<2048x384xf32>
    %out = ds.reshape %out_rows : (tensor<2048x384xf32>) -> tensor<8x256x384xf32>
    %y = arith.addf %x, %out : tensor<8x256x384xf32>
    %y_normal = ds.layer_norm %y, %mlp_norm_weight, %mlp_norm_bias {epsilon = 1.0e-5 : f64} : (tensor<8x256x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<8x256x384xf32>
    %y_rows = ds.reshape %y_normal : (tensor<8x256x384xf32>) -> tensor<2048x384xf32>
    %in_product = ds.matmul %y_rows, %mlp_in_weight {indices = "mk,kn->mn"} : (tensor<2048x384xf32>, tensor<384x1536xf32>) -> tensor<2048x1536xf32>
    %in_bias = ds.broadcast %mlp_in_bias {dims = array<i64: 1>} : (tensor<1536xf32>) -> tensor<2048x1536xf32>
    %inner_rows = arith.addf %in_product, %in_bias : tensor<2048x1536xf32>
    %inner = ds.reshape %inner_rows : (tensor<2048x1536xf32>) -> tensor<8x256x1536xf32>
    %gelu = ds.gelu %inner {kind = #ds.gelu_kind<tanh>} : (tensor<8x256x1536xf32>) -> tensor<8x256x1536xf32>
    %gelu_rows = ds.reshape %gelu : (tensor<8x256x1536xf32>) -> tensor<2048x1536xf32>
    %mlp_product = ds.matmul %gelu_rows, %mlp_out_weight {indices = "mk,kn->mn"} : (tensor<2048x1536xf32>, tensor<1536x384xf32>) -> tensor<2048x384xf32>
    %mlp_bias = ds.broadcast %mlp_out_bias {dims = array<i64: 1>} : (tensor<384xf32>) -> tensor<2048x384xf32>
    %mlp_rows = arith.addf %mlp_product, %mlp_bias : tensor<2048x384xf32>
    %mlp = ds.reshape %mlp_rows : (tensor<2048x384xf32>) -> tensor<8x256x384xf32>
    %z = arith.addf %y, %mlp : tensor<8x256x384xf32>
    %z_normal = ds.layer_norm %z, %norm_weight, %norm_bias {epsilon = 1.0e-5 : f64} : (tensor<8x256x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<8x256x384xf32>
    %logits = ds.matmul %z_normal, %word_embedding {indices = "amk,nk->amn"} : (tensor<8x256x384xf32>, tensor<4096x384xf32>) -> tensor<8x256x4096xf32>
    %logit_rows = ds.reshape %logits : (tensor<8x256x4096xf32>) -> tensor<2048x4096xf32>
    %label_rows = ds.reshape %labels : (tensor<8x256xi64>) -> tensor<2048xi64>
    %losses = ds.cross_entropy %logit_rows, %label_rows {ignore_index = -100 : i64} : (tensor<2048x4096xf32>, tensor<2048xi64>) -> tensor<2048xf32>
    %loss = ds.reduce %losses {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2048xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
