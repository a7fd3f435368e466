// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Extents.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
/// One coordinate per mesh axis.
using Coordinates = std::vector<int64_t>;
} // namespace

static Coordinates coordinatesOf(const ds::Mesh &mesh, int64_t rank) {
  Coordinates coordinates(mesh.axes().size());
  for (size_t i = coordinates.size(); i-- > 0; rank /= mesh.axes()[i].size)
    coordinates[i] = rank % mesh.axes()[i].size;
  return coordinates;
}

static int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

/// `ownedInterval` of DsLayout with axes by number.
static ds::Interval owned(int64_t n, const std::vector<uint16_t> &axes, const ds::Mesh &mesh, const Coordinates &at) {
  ds::Interval interval{0, n};
  for (uint16_t axis : axes)
    interval = ds::split(interval, mesh.axes()[axis], at[axis]);
  return interval;
}

static ExtentValue evaluateAt(const ExtentT &extent, const ds::Mesh &mesh, const Coordinates &at) {
  int64_t n = 1, begin = 0;
  for (const auto &factor : extent.factors) {
    ds::Interval interval = owned(factor->size, factor->axes, mesh, at);
    const bool isMajor = factor == extent.factors.front();
    begin = isMajor ? interval.begin : saturatingProduct(begin, interval.length());
    n = saturatingProduct(n, interval.length());
  }
  if (extent.flat.empty())
    return {n, begin};
  ds::Interval flat = owned(n, extent.flat, mesh, at);
  return {flat.length(), flat.begin};
}

ExtentValue ds::plan::evaluateExtent(const ExtentT &extent, const Mesh &mesh, int64_t rank) {
  return evaluateAt(extent, mesh, coordinatesOf(mesh, rank));
}

std::vector<ExtentValue> ds::plan::evaluateExtents(const PlanT &plan, const Mesh &mesh, int64_t rank) {
  Coordinates at = coordinatesOf(mesh, rank);
  std::vector<ExtentValue> values;
  values.reserve(plan.extents.size());
  for (const auto &extent : plan.extents)
    values.push_back(evaluateAt(*extent, mesh, at));
  return values;
}

/// The axes that `extent` depends on, each once.
static std::vector<uint16_t> axesOf(const ExtentT &extent) {
  std::vector<uint16_t> axes = extent.flat;
  for (const auto &factor : extent.factors)
    axes.insert(axes.end(), factor->axes.begin(), factor->axes.end());
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

int64_t ds::plan::maxLength(const ExtentT &extent, const Mesh &mesh) {
  std::vector<uint16_t> axes = axesOf(extent);
  Coordinates at(mesh.axes().size(), 0);
  int64_t longest = 0;
  while (true) {
    longest = std::max(longest, evaluateAt(extent, mesh, at).length);
    // The next combination of the axes' coordinates, like an odometer.
    size_t i = 0;
    while (i < axes.size() && ++at[axes[i]] == mesh.axes()[axes[i]].size)
      at[axes[i++]] = 0;
    if (i == axes.size())
      return longest;
  }
}

ds::Interval ds::plan::pieceOf(int64_t whole, const Mesh &mesh, uint16_t axis, int64_t coordinate) {
  return split({0, whole}, mesh.axes()[axis], coordinate);
}

//===----------------------------------------------------------------------===//
// Making extents
//===----------------------------------------------------------------------===//

static ExtentT fromTables(std::vector<std::unique_ptr<FactorT>> factors, std::vector<uint16_t> flat) {
  ExtentT extent;
  // Factors of 1 without axes change nothing; one factor alone keeps its begin.
  factors.erase(std::remove_if(factors.begin(), factors.end(),
                               [](const auto &factor) { return factor->size == 1 && factor->axes.empty(); }),
                factors.end());
  extent.factors = std::move(factors);
  extent.flat = std::move(flat);
  return extent;
}

ExtentT ds::plan::dimExtent(const ds::Layout &layout, const Shape &shape, size_t dim, const Mesh &mesh) {
  assert(layout.flat.empty() && "a flat layout has no dims");
  ds::Layout one;
  one.dims = {layout.dims[dim]};
  return fromTables(std::move(toPlanLayout(one, {shape[dim]}, mesh)->dims[0]->factors), {});
}

ExtentT ds::plan::elementsExtent(const ds::Layout &layout, const Shape &shape, const Mesh &mesh) {
  auto table = toPlanLayout(layout, shape, mesh);
  std::vector<std::unique_ptr<FactorT>> factors;
  for (auto &dim : table->dims)
    for (auto &factor : dim->factors)
      factors.push_back(std::move(factor));
  return fromTables(std::move(factors), std::move(table->flat));
}

ExtentT ds::plan::constantExtent(int64_t size) {
  auto factor = std::make_unique<FactorT>();
  factor->size = size;
  std::vector<std::unique_ptr<FactorT>> factors;
  factors.push_back(std::move(factor));
  return fromTables(std::move(factors), {});
}

ExtentTable::Key ExtentTable::keyOf(const ExtentT &extent) {
  Key key;
  for (const auto &factor : extent.factors) {
    key.push_back(factor->size);
    key.push_back(static_cast<int64_t>(factor->axes.size()));
    key.insert(key.end(), factor->axes.begin(), factor->axes.end());
  }
  key.push_back(-1);
  key.insert(key.end(), extent.flat.begin(), extent.flat.end());
  return key;
}

ExtentTable::ExtentTable(PlanT &plan) : plan(plan) {
  for (size_t i = 0; i < plan.extents.size(); ++i)
    ids.emplace(keyOf(*plan.extents[i]), static_cast<uint32_t>(i));
}

uint32_t ExtentTable::idOf(const ExtentT &extent) {
  auto [entry, isNew] = ids.emplace(keyOf(extent), static_cast<uint32_t>(plan.extents.size()));
  if (isNew)
    plan.extents.push_back(std::make_unique<ExtentT>(extent));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

namespace {
struct DataTypeInfo {
  std::string_view name;
  uint64_t bytes;
};
} // namespace

/// By DataType.
static constexpr std::array<DataTypeInfo, 8> kDataTypes = {
    {{"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"i64", 8}, {"i32", 4}, {"i8", 1}, {"bool", 1}}};
static_assert(kDataTypes.size() == static_cast<size_t>(DataType::MAX) + 1, "one entry per data type");

template <typename Enum, size_t N>
static std::string_view lookUp(const std::array<std::string_view, N> &names, Enum value) {
  static_assert(N == static_cast<size_t>(Enum::MAX) + 1, "one name per value");
  size_t index = static_cast<size_t>(value);
  return index < N ? names[index] : "unknown";
}

uint64_t ds::plan::sizeOf(DataType type) {
  size_t index = static_cast<size_t>(type);
  return index < kDataTypes.size() ? kDataTypes[index].bytes : 0;
}

std::string_view ds::plan::nameOf(DataType type) {
  size_t index = static_cast<size_t>(type);
  return index < kDataTypes.size() ? kDataTypes[index].name : "unknown";
}

std::optional<DataType> ds::plan::findDataType(std::string_view name) {
  for (size_t i = 0; i < kDataTypes.size(); ++i)
    if (kDataTypes[i].name == name)
      return static_cast<DataType>(i);
  return std::nullopt;
}

std::string_view ds::plan::nameOf(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"all_gather", "reduce_scatter", "all_reduce",
                                                             "all_to_all"};
  return lookUp(kNames, kind);
}

std::string_view ds::plan::nameOf(Operation operation) {
  static constexpr std::array<std::string_view, 12> kNames = {"none",       "kernel_call",  "matmul",     "copy",
                                                              "fill",       "library_call", "collective", "take_shard",
                                                              "to_partial", "remap",        "loop_begin", "loop_end"};
  return lookUp(kNames, operation);
}

std::string_view ds::plan::nameOf(VariableRole role) {
  static constexpr std::array<std::string_view, 6> kNames = {"parameter", "gradient", "optimizer_state",
                                                             "buffer",    "counter",  "cache"};
  return lookUp(kNames, role);
}

std::string_view ds::plan::nameOf(MemoryTier tier) {
  static constexpr std::array<std::string_view, 3> kNames = {"device", "host", "disk"};
  return lookUp(kNames, tier);
}

std::string_view ds::plan::nameOf(LibraryFunction function) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "iota",         "gather_rows", "scatter_add_rows",       "gather_elements",         "scatter_elements",
      "top_k",        "convolution", "convolution_grad_input", "convolution_grad_weight", "max_pool",
      "max_pool_grad"};
  return lookUp(kNames, function);
}
