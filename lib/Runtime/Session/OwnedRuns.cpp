// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/OwnedRuns.h"

#include <algorithm>

namespace ds::runtime {

namespace {
/// All factors of all dims, major first, with what the rank owns of each.
struct FactorGrid {
  std::vector<int64_t> sizes;
  std::vector<Interval> owned;

  /// Merges the minor-most factors into one as long as the lower ones are owned whole: a run is what is owned of it.
  void mergeMinor();
};
} // namespace

static FactorGrid gridOf(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  FactorGrid grid;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    for (const Factor &factor : resolvedDim(layout.dims[dim], shape[dim])) {
      grid.sizes.push_back(factor.size);
      grid.owned.push_back(ownedInterval(factor.size, factor.axes, mesh, rank));
    }
  if (grid.sizes.empty()) { // a scalar
    grid.sizes.push_back(1);
    grid.owned.push_back({0, 1});
  }
  grid.mergeMinor();
  return grid;
}

void FactorGrid::mergeMinor() {
  while (sizes.size() > 1 && owned.back().length() == sizes.back()) {
    const int64_t minor = sizes.back();
    sizes.pop_back();
    owned.pop_back();
    sizes.back() *= minor;
    owned.back() = {owned.back().begin * minor, owned.back().end * minor};
  }
}

/// The global number of the first element of row `row` of the block, a row being what is owned of the minor-most
/// factor.
static int64_t rowBegin(const FactorGrid &grid, int64_t row) {
  int64_t global = grid.owned.back().begin, stride = grid.sizes.back();
  for (size_t i = grid.sizes.size() - 1; i-- > 0;) {
    global += (grid.owned[i].begin + row % grid.owned[i].length()) * stride;
    row /= grid.owned[i].length();
    stride *= grid.sizes[i];
  }
  return global;
}

/// The global number of element `at` of the block; it grows with `at`.
static int64_t globalOf(const FactorGrid &grid, int64_t at) {
  const int64_t rowLength = grid.owned.back().length();
  return rowBegin(grid, at / rowLength) + at % rowLength;
}

/// The first of the elements [piece.begin, piece.end) of the block whose global number is at least `wanted`.
static int64_t findFirst(const FactorGrid &grid, Interval piece, int64_t wanted) {
  while (piece.begin < piece.end) {
    const int64_t middle = piece.begin + piece.length() / 2;
    if (globalOf(grid, middle) < wanted)
      piece.begin = middle + 1;
    else
      piece.end = middle;
  }
  return piece.begin;
}

absl::Status forEachOwnedRunIn(const Interval &wanted, const Layout &layout, const Shape &shape, const Mesh &mesh,
                               int64_t rank, const std::function<absl::Status(const OwnedRun &)> &visit) {
  if (!holdsValue(layout, mesh, rank))
    return absl::OkStatus();
  const Interval piece = flatInterval(layout, shape, mesh, rank);
  if (piece.length() <= 0)
    return absl::OkStatus();
  const FactorGrid grid = gridOf(layout, shape, mesh, rank);
  const int64_t rowLength = grid.owned.back().length();
  for (int64_t at = findFirst(grid, piece, wanted.begin); at < piece.end;) {
    const int64_t global = globalOf(grid, at);
    const int64_t length = std::min({rowLength - at % rowLength, piece.end - at, wanted.end - global});
    if (length <= 0)
      break;
    const absl::Status status = visit({global, at - piece.begin, length});
    if (!status.ok())
      return status;
    at += length;
  }
  return absl::OkStatus();
}

absl::Status forEachOwnedRun(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank,
                             const std::function<absl::Status(const OwnedRun &)> &visit) {
  return forEachOwnedRunIn({0, INT64_MAX}, layout, shape, mesh, rank, visit);
}

bool isFirstHolder(const Layout &layout, const Mesh &mesh, int64_t rank) {
  AxisList used = layout.dimAxes();
  used.insert(used.end(), layout.flat.begin(), layout.flat.end());
  for (const MeshAxis &axis : mesh.axes()) {
    if (std::find(used.begin(), used.end(), axis.name) != used.end())
      continue;
    const auto at = layout.at.find(axis.name);
    const int64_t first = at == layout.at.end() || at->second.empty() ? 0 : *at->second.begin();
    if (mesh.coordinate(rank, axis.name) != first)
      return false;
  }
  return true;
}

} // namespace ds::runtime
