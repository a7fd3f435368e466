// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LayoutExtents.h"

using namespace ds;

uint16_t ds::axisId(const Mesh &mesh, std::string_view axis) {
  uint16_t id = 0;
  while (mesh.axes()[id].name != axis)
    ++id;
  return id;
}

std::vector<uint16_t> LayoutExtents::axisIds(const AxisList &axes) const {
  std::vector<uint16_t> ids;
  for (const std::string &axis : axes)
    ids.push_back(axisId(mesh, axis));
  return ids;
}

uint32_t LayoutExtents::add(const std::vector<DimLayout> &resolvedDims, const AxisList &flat) {
  // Neighbours without axes are one factor, so that extents that are equal are found to be. Their order is kept: where
  // a rank starts is told by the major factor.
  DimLayout factors;
  for (const DimLayout &dim : resolvedDims)
    for (const Factor &factor : dim) {
      const bool isFree = factor.axes.empty();
      if (isFree && factor.size == 1)
        continue;
      if (isFree && !factors.empty() && factors.back().axes.empty())
        factors.back().size *= factor.size;
      else
        factors.push_back(factor);
    }
  plan::ExtentT extent;
  for (const Factor &factor : factors) {
    auto made = std::make_unique<plan::FactorT>();
    made->size = factor.size;
    made->axes = axisIds(factor.axes);
    extent.factors.push_back(std::move(made));
  }
  extent.flat = axisIds(flat);
  return table.idOf(extent);
}

uint32_t LayoutExtents::addProduct(const Layout &layout, const Shape &shape, size_t begin, size_t end) {
  std::vector<DimLayout> dims;
  for (size_t dim = begin; dim < end; ++dim)
    dims.push_back(resolvedDim(layout.dims[dim], shape[dim]));
  return add(dims, layout.flat);
}
