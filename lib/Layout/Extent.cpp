// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What each rank owns of a tensor. The sets themselves, compactly, are in OwnedSet.cpp.

#include "ds/Layout/Layout.h"

#include <algorithm>
#include <numeric>

using namespace ds;

/// The number of elements before part `index` of `length` elements cut for `axis`.
static int64_t cutBefore(int64_t length, const MeshAxis &axis, int64_t index) {
  if (axis.weights.empty()) {
    const int64_t block = length / axis.size + (length % axis.size != 0);
    return std::min(length, index * block);
  }
  const auto begin = axis.weights.begin();
  const int64_t before = std::accumulate(begin, begin + index, int64_t(0));
  const int64_t total = std::accumulate(begin, axis.weights.end(), int64_t(0));
  // length * before / total without the large product.
  return length / total * before + length % total * before / total;
}

Interval ds::split(Interval whole, const MeshAxis &axis, int64_t index) {
  const int64_t length = whole.length();
  return {whole.begin + cutBefore(length, axis, index), whole.begin + cutBefore(length, axis, index + 1)};
}

Interval ds::ownedInterval(int64_t n, const AxisList &axes, const Mesh &mesh, int64_t rank) {
  Interval interval{0, n};
  for (const std::string &axis : axes)
    interval = split(interval, *mesh.findAxis(axis), mesh.coordinate(rank, axis));
  return interval;
}

bool ds::holdsValue(const Layout &layout, const Mesh &mesh, int64_t rank) {
  return std::all_of(layout.at.begin(), layout.at.end(),
                     [&](const auto &entry) { return entry.second.count(mesh.coordinate(rank, entry.first)) != 0; });
}

Shape ds::blockShape(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  Shape extents(shape.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i)
    for (const Factor &factor : layout.dims[i]) {
      const int64_t size = factor.size == kWholeDim ? shape[i] : factor.size;
      extents[i] *= ownedInterval(size, factor.axes, mesh, rank).length();
    }
  return extents;
}

static int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

Interval ds::flatInterval(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  return ownedInterval(product(blockShape(layout, shape, mesh, rank)), layout.flat, mesh, rank);
}

int64_t ds::ownedElements(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  return holdsValue(layout, mesh, rank) ? flatInterval(layout, shape, mesh, rank).length() : 0;
}

int64_t ds::maxOwnedElements(const Layout &layout, const Shape &shape, const Mesh &mesh) {
  int64_t largest = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    largest = std::max(largest, ownedElements(layout, shape, mesh, rank));
  return largest;
}

Shape ds::maxBlockShape(const Layout &layout, const Shape &shape, const Mesh &mesh) {
  Shape largest(shape.size(), 0);
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    const Shape block = blockShape(layout, shape, mesh, rank);
    for (size_t i = 0; i < shape.size(); ++i)
      largest[i] = std::max(largest[i], block[i]);
  }
  return largest;
}

/// The positions of one dim that `rank`'s block has, ascending.
static std::vector<int64_t> ownedPositions(const DimLayout &dim, int64_t size, const Mesh &mesh, int64_t rank) {
  std::vector<int64_t> positions = {0};
  for (const Factor &factor : resolvedDim(dim, size)) {
    const Interval owned = ownedInterval(factor.size, factor.axes, mesh, rank);
    std::vector<int64_t> finer;
    for (int64_t position : positions)
      for (int64_t i = owned.begin; i < owned.end; ++i)
        finer.push_back(position * factor.size + i);
    positions = std::move(finer);
  }
  return positions;
}

std::vector<int64_t> ds::ownedIndices(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  if (!holdsValue(layout, mesh, rank))
    return {};
  std::vector<int64_t> indices = {0};
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::vector<int64_t> positions = ownedPositions(layout.dims[i], shape[i], mesh, rank);
    std::vector<int64_t> finer;
    finer.reserve(indices.size() * positions.size());
    for (int64_t index : indices)
      for (int64_t position : positions)
        finer.push_back(index * shape[i] + position);
    indices = std::move(finer);
  }
  const Interval piece = flatInterval(layout, shape, mesh, rank);
  return {indices.begin() + piece.begin, indices.begin() + piece.end};
}
