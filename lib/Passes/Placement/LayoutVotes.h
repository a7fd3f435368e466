// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What is decided about one op from what the layouts of its operands say: no IR is read or written here.

#ifndef DS_LIB_PASSES_PLACEMENT_LAYOUTVOTES_H
#define DS_LIB_PASSES_PLACEMENT_LAYOUTVOTES_H

#include "ds/Dialect/LayoutRule.h"

namespace ds {

/// What one operand says about one index of an op.
struct Vote {
  unsigned index;
  DimLayout split;
  int64_t weight; ///< elements of the operand; 0 for lazy ones
};

/// The axes of a split index, in order.
AxisList axesOf(const DimLayout &split);

/// The split of each index of `rule`: the heaviest vote whose axes are still free wins; of equal ones the first.
/// Indices that nobody wants split, and those that the op needs whole, stay whole.
IndexSplits decideSplits(const LayoutRule &rule, llvm::SmallVector<Vote> votes);

/// The axes over which the op's result is partial because indices that it folds are split so.
std::map<std::string, ReduceKind> foldedAxes(const LayoutRule &rule, const IndexSplits &splits);

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_LAYOUTVOTES_H
