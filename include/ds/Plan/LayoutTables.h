// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Meshes and layouts to and from their tables in a plan. The tables name axes by number and spell all sizes out.

#ifndef DS_PLAN_LAYOUTTABLES_H
#define DS_PLAN_LAYOUTTABLES_H

#include "ds/Layout/Layout.h"
#include "ds/Plan/Plan.h"

namespace ds::plan {

/// The plan's mesh, which must have passed `check`.
Mesh meshOf(const PlanT &plan);
std::vector<std::unique_ptr<MeshAxisT>> toPlanMesh(const Mesh &mesh);

// The plan's names of the layout algebra's enums, and back.
ReduceKind toPlan(ds::ReduceKind kind);
MemoryTier toPlan(ds::MemoryTier tier);
ds::ReduceKind fromPlan(ReduceKind kind);
ds::MemoryTier fromPlan(MemoryTier tier);

/// The layout of a table of the plan, with a lone factor spelt kWholeDim: normalized if the table came from a
/// normalized layout. Its axis ids must be valid.
ds::Layout layoutOf(const PlanT &plan, const LayoutT &table);
/// The table of `layout` for a tensor of `shape`; all axes must be on `mesh`.
std::unique_ptr<LayoutT> toPlanLayout(const ds::Layout &layout, const Shape &shape, const Mesh &mesh);

} // namespace ds::plan

#endif // DS_PLAN_LAYOUTTABLES_H
