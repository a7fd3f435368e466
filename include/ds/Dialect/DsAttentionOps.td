// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_ATTENTION_OPS
#define DS_DIALECT_DS_ATTENTION_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_AttentionOp : Ds_ModelOp<"attention", [SameOperandsAndResultElementType]> {
  let summary = "softmax(scale * query key^T + bias) value";
  let description = [{
    query [B, H, S, D], key [B, K, T, D], value [B, K, T, E] -> [B, H, S, E]; H is a multiple of K (grouped queries: query head h
    reads key head h / (H / K)). `bias`, if there, is [B or 1, 1 or H, 1 or S, T]. `causal`: position s sees t <= s + T - S.
    Source: Vaswani et al. 2017; Ainslie et al. 2023.
  }];
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Optional<Ds_FloatTensor>:$bias,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_AttentionGradOp : Ds_ModelOp<"attention_grad", [SameOperandsAndResultElementType]> {
  let summary = "the gradients of an attention's query, key and value";
  let description = "Recomputes the probabilities. The bias is taken as constant.";
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Ds_FloatTensor:$gradient,
                       Optional<Ds_FloatTensor>:$bias, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Ds_FloatTensor:$query_gradient, Ds_FloatTensor:$key_gradient, Ds_FloatTensor:$value_gradient);
  let hasVerifier = 1;
}

def Ds_FusedAttentionOp : Ds_ModelOp<"fused_attention"> {
  let summary = "an attention as one kernel, reading and writing its tensors in any order of dims";
  let description = [{
    `indices` names the dims of query, key, value, bias (if there) and of both results, as `ds.matmul` does: b batch, k key heads, g query
    heads per key head (absent if 1), s query positions, t key positions, d and e the widths, which stand last. A digit in place of a
    letter is a fixed coordinate: with "bs0kd,bt1kd,bt2ke" query, key and value lie in one tensor. The bias has t, and those of b, k and g that
    it depends on. `log_sum` [b, k, g, s] is the logarithm of the sum of the exponentials, for the gradient. All tensors are f32. With
    `causal`, T is at least S. Made by `ds-fuse-attention`; there is no tensor of s by t. Source: Dao 2023, FlashAttention-2.

    ```mlir
    %y, %l = ds.fused_attention %qkv, %qkv, %qkv {indices = "bs0kd,bt1kd,bt2ke->bske,bks", scale = 0.125 : f64, causal}
        : (tensor<2x8x3x4x64xf32>, tensor<2x8x3x4x64xf32>, tensor<2x8x3x4x64xf32>) -> (tensor<2x8x4x64xf32>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Optional<Ds_FloatTensor>:$bias,
                       StrAttr:$indices, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Ds_FloatTensor:$result, Ds_FloatTensor:$log_sum);
  let hasVerifier = 1;
}

def Ds_FusedAttentionGradOp : Ds_ModelOp<"fused_attention_grad"> {
  let summary = "the gradients of a fused attention's query, key and value, as one kernel";
  let description = [{
    `indices` names the dims of all operands, as `ds.fused_attention` does (`output` and `log_sum` are its results), and of the gradients of query,
    key and value. These are three tensors, or one of three parts that digits set apart. Query heads of one key head (g) are not split over ranks,
    as the gradients of key and value are sums over them. Source: Dao 2023, FlashAttention-2.
  }];
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Ds_FloatTensor:$output,
                       Ds_FloatTensor:$log_sum, Ds_FloatTensor:$gradient, Optional<Ds_FloatTensor>:$bias, StrAttr:$indices,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Variadic<Ds_FloatTensor>:$gradients);
  let hasVerifier = 1;
}

def Ds_RotaryEmbeddingOp : Ds_ModelOp<"rotary_embedding", [SameOperandsAndResultElementType]> {
  let summary = "rotates pairs (i, i + D/2) of the last dim by an angle of the position";
  let description = [{
    input [.., S, D], cosine and sine [S, D/2]: y1 = x1 cos - x2 sin, y2 = x2 cos + x1 sin for the two halves of the last dim.
    `position_dim`: the dim of the positions, if it is not the last but one. The adjoint is the rotation by the negative angle. Source:
    Su et al. 2021.
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$cosine, Ds_FloatTensor:$sine, OptionalAttr<I64Attr>:$position_dim);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$input, "::mlir::Value":$cosine, "::mlir::Value":$sine), [{
    build($_builder, $_state, type, input, cosine, sine, ::mlir::IntegerAttr());
  }]>];
  let extraClassDeclaration = [{
    /// The dim of the positions, whether it is given or not.
    int64_t getPositions() { return getPositionDim().value_or(getType().getRank() - 2); }
  }];
}

#endif // DS_DIALECT_DS_ATTENTION_OPS
