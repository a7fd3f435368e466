// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The patterns of ds-match-library-calls by what they fold.

#ifndef DS_LIB_PASSES_KERNELS_LIBRARYPATTERNS_H
#define DS_LIB_PASSES_KERNELS_LIBRARYPATTERNS_H

#include "LaidOutBuilder.h"

#include "mlir/IR/PatternMatch.h"

namespace ds {

/// Transposes before and after matmuls and fused attentions become part of the order of their indices.
void populateFoldTransposePatterns(mlir::RewritePatternSet &patterns);

/// Slices before fused attentions, and the concatenation of their gradients, become coordinates in their indices.
void populateFoldPackedTensorPatterns(mlir::RewritePatternSet &patterns);

/// For each dim of `small` the dims of `big` that multiply to it, in order; nothing if there is no such grouping.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>> groupDims(llvm::ArrayRef<int64_t> small,
                                                                       llvm::ArrayRef<int64_t> big);

/// Whether the indices of an op's tensors may stand in any order.
inline bool takesAnyOrder(mlir::Operation *op) {
  // An addend has the order of the result.
  auto fused = mlir::dyn_cast<FusedMatmulOp>(op);
  return mlir::isa<MatmulOp, FusedAttentionOp, FusedAttentionGradOp>(op) || (fused && !fused.getAddend());
}

} // namespace ds

#endif // DS_LIB_PASSES_KERNELS_LIBRARYPATTERNS_H
