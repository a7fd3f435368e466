// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OwnedSet.h"

#include <algorithm>

using namespace ds;

using Runs = std::vector<Interval>;
/// A range of the block's own positions for each dim.
using BlockBox = std::vector<Interval>;

static int64_t totalLength(const Runs &runs) {
  int64_t total = 0;
  for (const Interval &run : runs)
    total += run.length();
  return total;
}

/// The positions in `dim` of `rank`'s block. Built from the minor factor up; a factor over a whole run only stretches
/// it.
static Runs runsOfDim(const DimLayout &dim, const Mesh &mesh, int64_t rank) {
  Runs runs = {{0, 1}};
  int64_t minorSize = 1;
  for (auto factor = dim.rbegin(); factor != dim.rend(); ++factor) {
    const Interval owned = ownedInterval(factor->size, factor->axes, mesh, rank);
    Runs wider;
    if (totalLength(runs) == minorSize && owned.length() > 0)
      wider.push_back({owned.begin * minorSize, owned.end * minorSize});
    else
      for (int64_t i = owned.begin; i < owned.end; ++i)
        for (const Interval &run : runs)
          wider.push_back({run.begin + i * minorSize, run.end + i * minorSize});
    runs = std::move(wider);
    minorSize *= factor->size;
  }
  return runs;
}

/// The part of `runs` that has the numbers `range` when their positions are counted from 0.
static Runs subrange(const Runs &runs, Interval range) {
  Runs part;
  int64_t before = 0;
  for (const Interval &run : runs) {
    const int64_t begin = std::max(range.begin - before, int64_t(0));
    const int64_t end = std::min(range.end - before, run.length());
    if (begin < end)
      part.push_back({run.begin + begin, run.begin + end});
    before += run.length();
  }
  return part;
}

/// Adds to `result` the boxes that make up `range` of the row-major vector of dims `dim`, ... of a block of `shape`;
/// `prefix` holds the ranges of the dims before.
static void addBoxes(Interval range, const Shape &shape, const BlockBox &prefix, std::vector<BlockBox> &result) {
  if (range.length() <= 0)
    return;
  const size_t dim = prefix.size();
  if (dim == shape.size()) {
    result.push_back(prefix);
    return;
  }
  int64_t rowSize = 1;
  for (size_t i = dim + 1; i < shape.size(); ++i)
    rowSize *= shape[i];
  const auto addRows = [&](Interval rows, Interval within) {
    BlockBox longer = prefix;
    longer.push_back(rows);
    addBoxes(within, shape, longer, result);
  };
  const int64_t firstRow = range.begin / rowSize, lastRow = (range.end - 1) / rowSize;
  if (firstRow == lastRow)
    return addRows({firstRow, firstRow + 1}, {range.begin - firstRow * rowSize, range.end - firstRow * rowSize});
  const int64_t firstWhole = (range.begin + rowSize - 1) / rowSize, endWhole = range.end / rowSize;
  addRows({firstRow, firstRow + 1}, {range.begin - firstRow * rowSize, firstWhole * rowSize - firstRow * rowSize});
  if (firstWhole < endWhole)
    addRows({firstWhole, endWhole}, {0, rowSize});
  addRows({lastRow, lastRow + 1}, {0, range.end - endWhole * rowSize});
}

OwnedSet::OwnedSet(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  Box block(shape.size());
  Shape extents(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    block[i] = runsOfDim(resolvedDim(layout.dims[i], shape[i]), mesh, rank);
    extents[i] = totalLength(block[i]);
  }
  if (layout.flat.empty()) {
    boxes.push_back(std::move(block));
    return;
  }
  std::vector<BlockBox> pieces;
  addBoxes(flatInterval(layout, shape, mesh, rank), extents, {}, pieces);
  for (const BlockBox &piece : pieces) {
    Box &box = boxes.emplace_back();
    for (size_t i = 0; i < shape.size(); ++i)
      box.push_back(subrange(block[i], piece[i]));
  }
}

static int64_t commonPositions(const Runs &a, const Runs &b) {
  int64_t common = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    common += std::max(int64_t(0), std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return common;
}

int64_t OwnedSet::commonElements(const Box &a, const Box &b) {
  int64_t common = 1;
  for (size_t i = 0; i < a.size() && common != 0; ++i)
    common *= commonPositions(a[i], b[i]);
  return common;
}

int64_t OwnedSet::commonElements(const OwnedSet &other) const {
  int64_t common = 0;
  for (const Box &a : boxes)
    for (const Box &b : other.boxes)
      common += commonElements(a, b);
  return common;
}

Holdings::Holdings(const Layout &layout, const Shape &shape, const Mesh &mesh)
    : layout(layout), shape(shape), mesh(mesh), counts(mesh.numRanks()), sets(mesh.numRanks()) {
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    counts[rank] = ownedElements(layout, shape, mesh, rank);
}

const OwnedSet &Holdings::setOf(int64_t rank) const {
  if (!sets[rank])
    sets[rank] = std::make_unique<OwnedSet>(layout, shape, mesh, rank);
  return *sets[rank];
}

int64_t Holdings::missingElements(const Holdings &before, int64_t rank) const {
  if (counts[rank] == 0 || before.counts[rank] == 0)
    return counts[rank];
  return counts[rank] - setOf(rank).commonElements(before.setOf(rank));
}
