// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LayoutVotes.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;
using namespace ds;

AxisList ds::axesOf(const DimLayout &split) {
  AxisList axes;
  for (const Factor &factor : split)
    axes.insert(axes.end(), factor.axes.begin(), factor.axes.end());
  return axes;
}

/// `split` of `size` elements without the axes of factors of one element: they leave all ranks but one without work,
/// and where such a factor stands in a dim is lost when dims are reshaped.
static DimLayout withoutUnitAxes(const DimLayout &split, int64_t size) {
  Layout layout;
  layout.dims = {resolvedDim(split, size)};
  for (Factor &factor : layout.dims[0])
    if (factor.size == 1)
      factor.axes.clear();
  return normalized(std::move(layout), {size}).dims[0];
}

IndexSplits ds::decideSplits(const LayoutRule &rule, SmallVector<Vote> votes) {
  llvm::stable_sort(votes, [](const Vote &a, const Vote &b) { return a.weight > b.weight; });
  IndexSplits splits(rule.indices.size(), DimLayout(1));
  SmallVector<bool> isSplit(rule.indices.size(), false);
  std::set<std::string> used;
  for (const Vote &vote : votes) {
    const RuleIndex &index = rule.indices[vote.index];
    const DimLayout split = withoutUnitAxes(vote.split, index.size);
    AxisList axes = axesOf(split);
    if (axes.empty() || isSplit[vote.index] || index.kind == IndexKind::Whole ||
        (index.needsInterval && !isInterval(split)))
      continue;
    if (llvm::any_of(axes, [&](const std::string &axis) { return used.count(axis); }))
      continue;
    isSplit[vote.index] = true;
    splits[vote.index] = split;
    used.insert(axes.begin(), axes.end());
  }
  return splits;
}

static ReduceKind foldOf(IndexKind kind) {
  return kind == IndexKind::Sum ? ReduceKind::Sum : kind == IndexKind::Max ? ReduceKind::Max : ReduceKind::Min;
}

std::map<std::string, ReduceKind> ds::foldedAxes(const LayoutRule &rule, const IndexSplits &splits) {
  std::map<std::string, ReduceKind> folded;
  for (auto [index, split] : llvm::zip_equal(rule.indices, splits))
    if (index.kind != IndexKind::Parallel && index.kind != IndexKind::Whole)
      for (const std::string &axis : axesOf(split))
        folded[axis] = foldOf(index.kind);
  return folded;
}
