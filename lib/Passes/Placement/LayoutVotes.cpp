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

IndexSplits ds::decideSplits(const LayoutRule &rule, SmallVector<Vote> votes) {
  llvm::stable_sort(votes, [](const Vote &a, const Vote &b) { return a.weight > b.weight; });
  IndexSplits splits(rule.indices.size(), DimLayout(1));
  SmallVector<bool> isSplit(rule.indices.size(), false);
  std::set<std::string> used;
  for (const Vote &vote : votes) {
    AxisList axes = axesOf(vote.split);
    if (axes.empty() || isSplit[vote.index] || rule.indices[vote.index].kind == IndexKind::Whole)
      continue;
    if (llvm::any_of(axes, [&](const std::string &axis) { return used.count(axis); }))
      continue;
    isSplit[vote.index] = true;
    splits[vote.index] = vote.split;
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
