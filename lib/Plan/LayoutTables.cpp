// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/LayoutTables.h"

#include <cassert>

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

/// Whether an enumerator has the same number in the plan and in the layout algebra.
template <typename Plan, typename Layout> static constexpr bool sameNumber(Plan plan, Layout layout) {
  return static_cast<int>(plan) == static_cast<int>(layout);
}

static_assert(sameNumber(ReduceKind::Sum, ds::ReduceKind::Sum) && sameNumber(ReduceKind::Max, ds::ReduceKind::Max) &&
              sameNumber(ReduceKind::Min, ds::ReduceKind::Min) && sameNumber(ReduceKind::And, ds::ReduceKind::And) &&
              sameNumber(ReduceKind::Or, ds::ReduceKind::Or) && sameNumber(ReduceKind::MAX, ds::ReduceKind::Or));
static_assert(sameNumber(MemoryTier::Device, ds::MemoryTier::Device) &&
              sameNumber(MemoryTier::Host, ds::MemoryTier::Host) &&
              sameNumber(MemoryTier::Disk, ds::MemoryTier::Disk) && sameNumber(MemoryTier::MAX, ds::MemoryTier::Disk));

ReduceKind ds::plan::toPlan(ds::ReduceKind kind) { return static_cast<ReduceKind>(kind); }
MemoryTier ds::plan::toPlan(ds::MemoryTier tier) { return static_cast<MemoryTier>(tier); }
ds::ReduceKind ds::plan::fromPlan(ReduceKind kind) { return static_cast<ds::ReduceKind>(kind); }
ds::MemoryTier ds::plan::fromPlan(MemoryTier tier) { return static_cast<ds::MemoryTier>(tier); }

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

ds::Mesh ds::plan::meshOf(const PlanT &plan) {
  std::vector<ds::MeshAxis> axes;
  for (const auto &axis : plan.mesh)
    axes.push_back({axis->name, axis->size, axis->weights});
  return Mesh(std::move(axes));
}

std::vector<std::unique_ptr<MeshAxisT>> ds::plan::toPlanMesh(const Mesh &mesh) {
  std::vector<std::unique_ptr<MeshAxisT>> tables;
  for (const ds::MeshAxis &axis : mesh.axes()) {
    auto table = std::make_unique<MeshAxisT>();
    table->name = axis.name;
    table->size = static_cast<uint32_t>(axis.size);
    table->weights = axis.weights;
    tables.push_back(std::move(table));
  }
  return tables;
}

//===----------------------------------------------------------------------===//
// From tables
//===----------------------------------------------------------------------===//

static ds::AxisList axisNames(const PlanT &plan, const std::vector<uint16_t> &axes) {
  ds::AxisList names;
  for (uint16_t axis : axes)
    names.push_back(plan.mesh[axis]->name);
  return names;
}

static ds::DimLayout dimOf(const PlanT &plan, const DimT &table) {
  ds::DimLayout dim;
  for (const auto &factor : table.factors)
    dim.push_back({factor->size, axisNames(plan, factor->axes)});
  if (dim.empty())
    dim.push_back({1, {}});
  if (dim.size() == 1)
    dim.front().size = ds::kWholeDim;
  return dim;
}

ds::Layout ds::plan::layoutOf(const PlanT &plan, const LayoutT &table) {
  ds::Layout layout;
  for (const auto &dim : table.dims)
    layout.dims.push_back(dimOf(plan, *dim));
  for (const auto &partial : table.partial)
    layout.partial[plan.mesh[partial->axis]->name] = fromPlan(partial->reduce);
  layout.flat = axisNames(plan, table.flat);
  for (const auto &at : table.at)
    layout.at[plan.mesh[at->axis]->name] = std::set<int64_t>(at->coordinates.begin(), at->coordinates.end());
  layout.memory = fromPlan(table.memory);
  return layout;
}

//===----------------------------------------------------------------------===//
// To tables
//===----------------------------------------------------------------------===//

static uint16_t axisId(const ds::Mesh &mesh, std::string_view name) {
  for (size_t i = 0; i < mesh.axes().size(); ++i)
    if (mesh.axes()[i].name == name)
      return static_cast<uint16_t>(i);
  assert(false && "axis must be on the mesh");
  return 0;
}

static std::vector<uint16_t> axisIds(const ds::Mesh &mesh, const ds::AxisList &names) {
  std::vector<uint16_t> ids;
  for (const std::string &name : names)
    ids.push_back(axisId(mesh, name));
  return ids;
}

std::unique_ptr<LayoutT> ds::plan::toPlanLayout(const ds::Layout &layout, const Shape &shape, const Mesh &mesh) {
  assert(layout.dims.size() == shape.size() && "layout must have the rank of the tensor");
  auto table = std::make_unique<LayoutT>();
  for (size_t i = 0; i < shape.size(); ++i) {
    auto dim = std::make_unique<DimT>();
    for (const ds::Factor &factor : layout.dims[i]) {
      auto entry = std::make_unique<FactorT>();
      entry->size = factor.size == kWholeDim ? shape[i] : factor.size;
      entry->axes = axisIds(mesh, factor.axes);
      dim->factors.push_back(std::move(entry));
    }
    table->dims.push_back(std::move(dim));
  }
  for (const auto &[axis, reduce] : layout.partial) {
    auto entry = std::make_unique<PartialAxisT>();
    entry->axis = axisId(mesh, axis);
    entry->reduce = toPlan(reduce);
    table->partial.push_back(std::move(entry));
  }
  table->flat = axisIds(mesh, layout.flat);
  for (const auto &[axis, coordinates] : layout.at) {
    auto entry = std::make_unique<AtAxisT>();
    entry->axis = axisId(mesh, axis);
    entry->coordinates.assign(coordinates.begin(), coordinates.end());
    table->at.push_back(std::move(entry));
  }
  table->memory = toPlan(layout.memory);
  return table;
}
