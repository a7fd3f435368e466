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

    Constraints:
    - C1: query, key and value have 4 dims
    - C2: the key has the batch and the width of the query, and a number of heads that divides the query's
    - C3: the value is [B, K, T, E]
    - C4: the result is [B, H, S, E]
    - C5: the bias broadcasts to [B, H, S, T]; its last dim is T
    - C6: all tensors have one element type

    ```mlir
    %y = ds.attention %q, %k, %v {scale = 0.125 : f64, causal}
        : (tensor<2x4x6x64xf32>, tensor<2x2x6x64xf32>, tensor<2x2x6x64xf32>) -> tensor<2x4x6x64xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Optional<Ds_FloatTensor>:$bias,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
}

def Ds_AttentionGradOp : Ds_ModelOp<"attention_grad", [SameOperandsAndResultElementType]> {
  let summary = "the gradients of an attention's query, key and value";
  let description = [{
    Recomputes the probabilities. The bias is taken as constant.

    Constraints:
    - C1: the gradient has the shape of the attention's result
    - C2: each result has the shape of its operand
    - C3: all tensors have one element type
    - C4: query heads that share a key head are not split over ranks

    ```mlir
    %dq, %dk, %dv = ds.attention_grad %q, %k, %v, %dy {scale = 0.125 : f64, causal}
        : (tensor<2x4x6x64xf32>, tensor<2x2x6x64xf32>, tensor<2x2x6x64xf32>, tensor<2x4x6x64xf32>)
        -> (tensor<2x4x6x64xf32>, tensor<2x2x6x64xf32>, tensor<2x2x6x64xf32>)
    ```
  }];
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
    it depends on. `row_max` and `row_sum` [b, k, g, s] are for the gradient: what was subtracted from a query's scores, their greatest or little
    less, and the sum of the exponentials of what was left. They are two numbers because their one, the logarithm of the sum, would round the sum
    away beside a mask of -1e9. All tensors are f32. With `causal`, T is at least S. Made by `ds-fuse-attention`; there is no tensor of s by t. Source: Dao 2023, FlashAttention-2.

    Constraints:
    - C1: all tensors are of f32
    - C2: `indices` names every operand and both results
    - C3: a tensor's indices are its letters, each once, and digits; the width is last; a group letter of the query
      is in the result too
    - C4: a digit is a coordinate inside its dim
    - C5: a letter has one size
    - C6: with `causal` there are as many keys as queries at least
    - C7: digits of a result leave no part of it unwritten
    - C8: keys and widths are not split over ranks

    ```mlir
    %y, %m, %s = ds.fused_attention %qkv, %qkv, %qkv {indices = "bs0kd,bt1kd,bt2ke->bske,bks,bks", scale = 0.125 : f64, causal}
        : (tensor<2x8x3x4x64xf32>, tensor<2x8x3x4x64xf32>, tensor<2x8x3x4x64xf32>)
        -> (tensor<2x8x4x64xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Optional<Ds_FloatTensor>:$bias,
                       StrAttr:$indices, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Ds_FloatTensor:$result, Ds_FloatTensor:$row_max, Ds_FloatTensor:$row_sum);
  let hasVerifier = 1;
}

def Ds_FusedAttentionGradOp : Ds_ModelOp<"fused_attention_grad"> {
  let summary = "the gradients of a fused attention's query, key and value, as one kernel";
  let description = [{
    `indices` names the dims of all operands, as `ds.fused_attention` does (`output`, `row_max` and `row_sum` are its results), and of the gradients of query,
    key and value. These are three tensors, or one of three parts that digits set apart. Query heads of one key head (g) are not split over ranks,
    as the gradients of key and value are sums over them. Source: Dao 2023, FlashAttention-2.

    Constraints:
    - C1: there is one result or three
    - C2: `indices` names every operand and three gradients
    - C3: a tensor's indices are its letters, each once, and digits, the last letter last
    - C4: a letter has one size
    - C5: the digits of the gradients name each part of one result once
    - C6: query heads that share a key head are not split over ranks

    ```mlir
    %d:3 = ds.fused_attention_grad %q, %k, %v, %y, %l, %dy {indices = "bksd,bktd,bkte,bkse,bks,bkse->bksd,bktd,bkte", scale = 0.5 : f64, causal}
        : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>, tensor<2x4x6x3xf32>, tensor<2x4x6xf32>, tensor<2x4x6x3xf32>)
        -> (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x3xf32>)
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$query, Ds_FloatTensor:$key, Ds_FloatTensor:$value, Ds_FloatTensor:$output,
                       Ds_FloatTensor:$row_max, Ds_FloatTensor:$row_sum, Ds_FloatTensor:$gradient, Optional<Ds_FloatTensor>:$bias,
                       StrAttr:$indices, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Variadic<Ds_FloatTensor>:$gradients);
  let hasVerifier = 1;
}

def Ds_RotaryEmbeddingOp : Ds_ModelOp<"rotary_embedding", [SameOperandsAndResultElementType]> {
  let summary = "rotates pairs (i, i + D/2) of the last dim by an angle of the position";
  let description = [{
    With x1 and x2 for the two halves of the last dim of the input [.., D]: y1 = x1 cos1 - x2 sin1, y2 = x2 cos2 + x1 sin2. The
    tables, cosine and sine, have some of the input's dims before the last, ascending, then D columns, or D/2 that serve both halves.
    `dims` says which; if it is not given, they are those just before the last: tables [S, D/2] turn an input [.., S, D], and
    tables [D] all rows alike. The adjoint has cosine and -sine, of D columns with its halves exchanged. A `streamed` result is
    stored past the caches, as a kernel's. Source: Su et al. 2021.

    Constraints:
    - C1: the last dim of the input is even
    - C2: the tables have D or D/2 columns, both the same number
    - C3: the tables have one dim at least, and no more than the input
    - C4: `dims` has one entry per other dim of the tables, ascending, each a dim of the input before the last
    - C5: both tables have the sizes of these dims
    - C6: all tensors have one element type

    ```mlir
    %y = ds.rotary_embedding %x, %c, %s {dims = array<i64: 0, 2>}
        : (tensor<2x4x6x8xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x4x6x8xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$input, Ds_FloatTensor:$cosine, Ds_FloatTensor:$sine,
                       OptionalAttr<DenseI64ArrayAttr>:$dims, UnitAttr:$streamed);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$input, "::mlir::Value":$cosine, "::mlir::Value":$sine), [{
    build($_builder, $_state, type, input, cosine, sine, ::mlir::DenseI64ArrayAttr(), ::mlir::UnitAttr());
  }]>];
  let extraClassDeclaration = [{
    /// The dims of the input that the tables have, whether they are given or not.
    ::llvm::SmallVector<int64_t> getTableDims();
    /// The same dims, grouped into ranges [begin, end) of neighbouring dims, the last range first.
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getTableRuns();
    /// Whether the tables have a column for each of the input's, not one for both halves.
    bool hasWholeTables() { return getCosine().getType().getShape().back() == getType().getShape().back(); }
  }];
}

#endif // DS_DIALECT_DS_ATTENTION_OPS
