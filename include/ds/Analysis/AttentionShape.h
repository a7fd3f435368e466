// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How a fused attention, or its gradient, is cut. Needs no code generator.

#ifndef DS_ANALYSIS_ATTENTIONSHAPE_H
#define DS_ANALYSIS_ATTENTIONSHAPE_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

struct AttentionShape {
  /// Query positions, and key positions, that a task handles at a time.
  static constexpr int64_t kQueryBlock = 64, kKeyBlock = 64;

  /// The letters over whose product the rows run. A task is a query block, named by its first row; of a gradient it is
  /// a key head, so that one task alone adds to the gradients of a key and a value.
  llvm::StringRef rowLetters;
  int64_t chunks = 1; ///< into how many chunks the rows are cut
  /// The share of all pairs of query and key that are computed: without a causal mask all, with it the blocks in which
  /// at least one pair is visible.
  double visited = 1;
};

/// `op`: ds.fused_attention or ds.fused_attention_grad.
AttentionShape analyzeAttention(mlir::Operation *op, const Mesh &mesh);

/// The f32 elements of scratch memory that each chunk needs.
int64_t attentionWorkspace(mlir::Operation *op);

/// The number of the rule's index that `letter` names, or nothing if the op has no such letter.
std::optional<unsigned> indexOfLetter(mlir::Operation *op, const LayoutRule &rule, char letter);

} // namespace ds

#endif // DS_ANALYSIS_ATTENTIONSHAPE_H
