// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_DIALECT_DS_MATMUL_OPS
#define DS_DIALECT_DS_MATMUL_OPS

include "ds/Dialect/DsAttrs.td"
include "ds/Dialect/DsInterfaces.td"

def Ds_MatmulOp : Ds_ModelOp<"matmul", [SameOperandsAndResultElementType]> {
  let summary = "a contraction of two tensors";
  let description = [{
    `indices` names the dims of both operands and of the result, one letter each, as in an einsum. A letter of both operands
    and the result is a batch index, of both operands only is summed, of one operand and the result is free. No letter
    twice in one tensor, none in one tensor only. 2 * product of all sizes FLOPs. Sums in f32 for 16-bit data.

    Constraints:
    - C1: `indices` has one letter per dim, no letter twice in one tensor
    - C2: a letter has one size
    - C3: each letter is in two tensors at least
    - C4: all tensors have one element type

    ```mlir
    %y = ds.matmul %x, %w {indices = "bsk,kn->bsn"} : (tensor<8x32x64xf32>, tensor<64x192xf32>) -> tensor<8x32x192xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$lhs, Ds_FloatTensor:$rhs, StrAttr:$indices);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The letters of the left and right operand and of the result.
    ::llvm::StringRef getLhsIndices();
    ::llvm::StringRef getRhsIndices();
    ::llvm::StringRef getResultIndices();
  }];
}

def Ds_FusedMatmulOp : Ds_ModelOp<"fused_matmul", [SameOperandsAndResultElementType, AttrSizedOperandSegments]> {
  let summary = "a contraction, with what the library does while it writes the result";
  let description = [{
    The contraction of `ds.matmul`, plus `bias`, whose dims are the result's indices `bias_indices`, plus `addend`, which has the result's
    type and is overwritten where it dies here, and then `activation` of each element. Made by `ds-fuse-epilogues` and
    `ds-match-library-calls`: the library does it all while it writes the result.

    Constraints:
    - C1: the bias runs over indices of the result
    - C2: with a bias or an activation the result is not partial: each rank would add or activate its summand
    - C3: the addend has the result's type
    - C4: all tensors have one element type

    ```mlir
    %y = ds.fused_matmul %x, %w, %b {indices = "sk,kn->sn", bias_indices = "n", ...}
        : (tensor<32x64xf32>, tensor<64x192xf32>, tensor<192xf32>) -> tensor<32x192xf32>
    ```
  }];
  let arguments = (ins Ds_FloatTensor:$lhs, Ds_FloatTensor:$rhs, Optional<Ds_FloatTensor>:$bias, Optional<Ds_FloatTensor>:$addend,
                       StrAttr:$indices, DefaultValuedAttr<StrAttr, "\"\"">:$bias_indices,
                       DefaultValuedAttr<Ds_ActivationAttr, "::ds::Activation::None">:$activation);
  let results = (outs Ds_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The letters of the left and right operand and of the result.
    ::llvm::StringRef getLhsIndices();
    ::llvm::StringRef getRhsIndices();
    ::llvm::StringRef getResultIndices();
  }];
}

#endif // DS_DIALECT_DS_MATMUL_OPS
