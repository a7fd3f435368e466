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

def Ds_RotaryEmbeddingOp : Ds_ModelOp<"rotary_embedding", [SameOperandsAndResultElementType]> {
  let summary = "rotates pairs (i, i + D/2) of the last dim by an angle of the position";
  let description = [{
    input [.., S, D], cosine and sine [S, D/2]: y1 = x1 cos - x2 sin, y2 = x2 cos + x1 sin for the two halves of the last dim.
    The adjoint is the rotation by the negative angle. Source: Su et al. 2021.
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$cosine, Ds_FloatTensor:$sine);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // DS_DIALECT_DS_ATTENTION_OPS
