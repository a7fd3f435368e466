// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The numbers of a plan that differ between ranks, and the sizes and names of its enums.

#ifndef DS_PLAN_EXTENTS_H
#define DS_PLAN_EXTENTS_H

#include "ds/Plan/LayoutTables.h"

#include <map>

namespace ds::plan {

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// The value of an Extent on one rank.
struct ExtentValue {
  int64_t length = 1;
  int64_t begin = 0;
  friend bool operator==(const ExtentValue &a, const ExtentValue &b) {
    return a.length == b.length && a.begin == b.begin;
  }
};

/// The value of `extent` on `rank`, as the schema's comment defines it. Products above the range of int64_t saturate.
ExtentValue evaluateExtent(const ExtentT &extent, const Mesh &mesh, int64_t rank);
/// All extents of the plan on `rank`, by id.
std::vector<ExtentValue> evaluateExtents(const PlanT &plan, const Mesh &mesh, int64_t rank);
/// The largest length over all ranks. O(product of the sizes of the extent's own axes).
int64_t maxLength(const ExtentT &extent, const Mesh &mesh);

/// The part of `whole` elements that coordinate `coordinate` of mesh axis `axis` owns: `split` of DsLayout.
Interval pieceOf(int64_t whole, const Mesh &mesh, uint16_t axis, int64_t coordinate);

//===----------------------------------------------------------------------===//
// Making extents
//===----------------------------------------------------------------------===//

/// The extent of dim `dim` of the blocks of `layout`, which must not be flat.
ExtentT dimExtent(const ds::Layout &layout, const Shape &shape, size_t dim, const Mesh &mesh);
/// The number of elements in the blocks of `layout`, cut by its flat axes; begin is where the piece begins in the
/// block.
ExtentT elementsExtent(const ds::Layout &layout, const Shape &shape, const Mesh &mesh);
/// The extent `size` on every rank.
ExtentT constantExtent(int64_t size);

/// Adds extents to a plan, each only once.
class ExtentTable {
public:
  explicit ExtentTable(PlanT &plan);
  /// The id of `extent` in the plan.
  uint32_t idOf(const ExtentT &extent);

private:
  using Key = std::vector<int64_t>;
  static Key keyOf(const ExtentT &extent);

  PlanT &plan;
  std::map<Key, uint32_t> ids;
};

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

/// Bytes per element; 0 if `type` is none.
uint64_t sizeOf(DataType type);
/// "f32", "bf16", "i64", "bool", ...
std::string_view nameOf(DataType type);
std::optional<DataType> findDataType(std::string_view name);
/// "all_gather", "reduce_scatter", ...
std::string_view nameOf(CollectiveKind kind);
/// "kernel_call", "matmul", ...; "none" for an instruction without operation.
std::string_view nameOf(Operation operation);
/// "parameter", "optimizer_state", ...
std::string_view nameOf(VariableRole role);
/// "device", "host", "disk".
std::string_view nameOf(MemoryTier tier);
std::string_view nameOf(LibraryFunction function);

} // namespace ds::plan

#endif // DS_PLAN_EXTENTS_H
