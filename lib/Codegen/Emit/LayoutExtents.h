// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Extents of the layout algebra's dims in the plan's table.

#ifndef DS_LIB_CODEGEN_EMIT_LAYOUTEXTENTS_H
#define DS_LIB_CODEGEN_EMIT_LAYOUTEXTENTS_H

#include "ds/Layout/Layout.h"
#include "ds/Plan/Extents.h"

namespace ds {

class LayoutExtents {
public:
  LayoutExtents(const Mesh &mesh, plan::PlanT &plan) : mesh(mesh), table(plan) {}

  /// The id of the extent whose factors are those of the given dims, cut by `flat`. Equal extents have one id.
  uint32_t add(const std::vector<DimLayout> &resolvedDims, const AxisList &flat = {});
  /// The constant `n`.
  uint32_t addConstant(int64_t n) { return add({{Factor{n, {}}}}); }
  /// The product of dims [begin, end) of a tensor, cut by its flat axes.
  uint32_t addProduct(const Layout &layout, const Shape &shape, size_t begin, size_t end);
  /// The elements that a rank holds of a tensor.
  uint32_t addCount(const Layout &layout, const Shape &shape) { return addProduct(layout, shape, 0, shape.size()); }

private:
  std::vector<uint16_t> axisIds(const AxisList &axes) const;

  const Mesh &mesh;
  plan::ExtentTable table;
};

/// The number of `axis` in the mesh's list of axes.
uint16_t axisId(const Mesh &mesh, std::string_view axis);

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_LAYOUTEXTENTS_H
