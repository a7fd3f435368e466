// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Greedy rewriting of programs, which are flat.

#ifndef DS_PASSES_GREEDYREWRITES_H
#define DS_PASSES_GREEDYREWRITES_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ds {

/// A program has no control flow, so there are no regions to simplify. To look for some takes longer than the
/// rewriting.
inline mlir::GreedyRewriteConfig flatRewrites() {
  return mlir::GreedyRewriteConfig().setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
}

} // namespace ds

#endif // DS_PASSES_GREEDYREWRITES_H
