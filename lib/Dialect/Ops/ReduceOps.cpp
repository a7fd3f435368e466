// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Reductions.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

/// Whether the dialect's reduction has the number of the layout algebra's, which is the one used in C++.
static constexpr bool sameNumber(Reduction reduction, ReduceKind kind) {
  return static_cast<int>(reduction) == static_cast<int>(kind);
}
static_assert(sameNumber(Reduction::Sum, ReduceKind::Sum) && sameNumber(Reduction::Max, ReduceKind::Max) &&
              sameNumber(Reduction::Min, ReduceKind::Min) && sameNumber(Reduction::And, ReduceKind::And) &&
              sameNumber(Reduction::Or, ReduceKind::Or));

LogicalResult ReduceOp::verify() {
  RankedTensorType input = getInput().getType();
  if (failed(verifyAscendingDims(*this, getDims(), input.getRank())))
    return failure();
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      kept.push_back(size);
  return verifyShape(*this, "result", getType().getShape(), kept);
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() && getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

LayoutRule ReduceOp::getLayoutRule() {
  ReduceKind kind = static_cast<ReduceKind>(getKind());
  IndexKind folded = kind == ReduceKind::Sum   ? IndexKind::Sum
                     : kind == ReduceKind::Max ? IndexKind::Max
                     : kind == ReduceKind::Min ? IndexKind::Min
                                               : IndexKind::Whole;
  LayoutRule rule;
  ValueIndices value = rule.addDims(shapeOfTensor(getInput())), kept;
  for (auto [dim, indices] : llvm::enumerate(value)) {
    if (llvm::is_contained(getDims(), static_cast<int64_t>(dim)))
      rule.indices[indices[0]].kind = folded;
    else
      kept.push_back(indices);
  }
  rule.operands = {value};
  rule.results = {kept};
  rule.setLinear(PartialRule::Multilinear, {0}, {kind});
  return rule;
}
