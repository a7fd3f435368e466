// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Reference.h"

#include <algorithm>
#include <numeric>

using namespace ds;
using namespace ds::test;

Mesh test::meshOf(const std::vector<int64_t> &sizes) {
  std::vector<MeshAxis> axes;
  for (size_t i = 0; i < sizes.size(); ++i)
    axes.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i], {}});
  return Mesh(axes);
}

Factor test::factor(int64_t size, AxisList axes) { return {size, std::move(axes)}; }

Layout test::layoutOf(std::vector<AxisList> dims) {
  Layout layout;
  for (AxisList &axes : dims)
    layout.dims.push_back({factor(kWholeDim, std::move(axes))});
  return layout;
}

Layout test::flatOver(Layout layout, AxisList flat) {
  layout.flat = std::move(flat);
  return layout;
}

Layout test::partialOver(Layout layout, std::map<std::string, ReduceKind> partial) {
  layout.partial = std::move(partial);
  return layout;
}

int64_t test::numElements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

int64_t test::referenceCoordinate(const Mesh &mesh, int64_t rank, const std::string &axis) {
  for (size_t i = mesh.axes().size(); i-- > 0; rank /= mesh.axes()[i].size)
    if (mesh.axes()[i].name == axis)
      return rank % mesh.axes()[i].size;
  return -1;
}

/// Cuts the list for the coordinate: element by element, each goes to the part whose range it is in.
static std::vector<int64_t> cutList(const std::vector<int64_t> &list, const MeshAxis &axis, int64_t coordinate) {
  const auto n = static_cast<int64_t>(list.size());
  std::vector<int64_t> part;
  for (int64_t i = 0; i < n; ++i) {
    int64_t owner = 0;
    if (axis.weights.empty()) {
      owner = i / std::max<int64_t>((n + axis.size - 1) / axis.size, 1);
    } else {
      const int64_t total = std::accumulate(axis.weights.begin(), axis.weights.end(), int64_t(0));
      int64_t before = axis.weights[0];
      while (i >= n * before / total)
        before += axis.weights[++owner];
    }
    if (owner == coordinate)
      part.push_back(list[i]);
  }
  return part;
}

static std::vector<int64_t> cutListOverAxes(std::vector<int64_t> list, const AxisList &axes, const Mesh &mesh,
                                            int64_t rank) {
  for (const std::string &axis : axes)
    list = cutList(list, *mesh.findAxis(axis), referenceCoordinate(mesh, rank, axis));
  return list;
}

/// Whether position `position` of a dim of `size` elements is in the block of `rank`.
static bool isInDim(int64_t position, const DimLayout &dim, int64_t size, const Mesh &mesh, int64_t rank) {
  int64_t below = size;
  for (const Factor &factor : dim) {
    const int64_t factorSize = factor.size == kWholeDim ? size : factor.size;
    below /= factorSize;
    std::vector<int64_t> all(factorSize);
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int64_t> owned = cutListOverAxes(all, factor.axes, mesh, rank);
    if (!std::count(owned.begin(), owned.end(), position / below % factorSize))
      return false;
  }
  return true;
}

std::vector<int64_t> test::referenceIndices(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank) {
  for (const auto &[axis, coordinates] : layout.at)
    if (!coordinates.count(referenceCoordinate(mesh, rank, axis)))
      return {};
  std::vector<int64_t> block;
  for (int64_t index = 0; index < numElements(shape); ++index) {
    bool isIn = true;
    int64_t rest = index;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      isIn = isIn && isInDim(rest % shape[dim], layout.dims[dim], shape[dim], mesh, rank);
    if (isIn)
      block.push_back(index);
  }
  return cutListOverAxes(block, layout.flat, mesh, rank);
}

Shape test::shapeOf(const Spelling &spelling) {
  Shape shape;
  for (const Shape &factors : spelling)
    shape.push_back(numElements(factors));
  return shape;
}

/// The layouts that `layout` becomes when `axis`, which it lacks, takes each of its places, minor-most.
static std::vector<Layout> withAxis(const Layout &layout, const std::string &axis, ReduceKind kind, int64_t axisSize) {
  std::vector<Layout> result = {layout};
  if (layout.partial.empty() || layout.partial.begin()->second == kind)
    result.emplace_back(layout).partial[axis] = kind;
  result.emplace_back(layout).flat.push_back(axis);
  result.emplace_back(layout).at[axis] = {0};
  result.emplace_back(layout).at[axis] = {axisSize - 1};
  for (size_t dim = 0; dim < layout.dims.size(); ++dim)
    for (size_t i = 0; i < layout.dims[dim].size(); ++i)
      result.emplace_back(layout).dims[dim][i].axes.push_back(axis);
  return result;
}

std::vector<Layout> test::allLayouts(const Spelling &spelling, const std::map<std::string, ReduceKind> &axes,
                                     const Mesh &mesh) {
  Layout replicated;
  for (const Shape &factors : spelling) {
    DimLayout &dim = replicated.dims.emplace_back();
    for (int64_t size : factors)
      dim.push_back(factor(size));
  }
  std::vector<std::string> order;
  for (const auto &entry : axes)
    order.push_back(entry.first);
  std::set<Layout> found;
  do {
    std::vector<Layout> layouts = {replicated};
    for (const std::string &axis : order) {
      std::vector<Layout> longer;
      for (const Layout &layout : layouts)
        for (Layout &next : withAxis(layout, axis, axes.at(axis), mesh.axisSize(axis)))
          longer.push_back(std::move(next));
      layouts = std::move(longer);
    }
    for (Layout &layout : layouts)
      found.insert(normalized(std::move(layout), shapeOf(spelling)));
  } while (std::next_permutation(order.begin(), order.end()));
  return {found.begin(), found.end()};
}
