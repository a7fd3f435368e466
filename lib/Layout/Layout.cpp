// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Layout/Layout.h"

#include <algorithm>
#include <array>
#include <tuple>

using namespace ds;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr std::array<std::string_view, 5> reduceKindNames = {"sum", "max", "min", "and", "or"};
static constexpr std::array<std::string_view, 3> memoryTierNames = {"device", "host", "disk"};

template <typename Enum, size_t n>
static std::optional<Enum> findByName(const std::array<std::string_view, n> &names, std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::string_view ds::reduceKindName(ReduceKind kind) { return reduceKindNames[static_cast<size_t>(kind)]; }
std::optional<ReduceKind> ds::findReduceKind(std::string_view name) {
  return findByName<ReduceKind>(reduceKindNames, name);
}
std::string_view ds::memoryTierName(MemoryTier tier) { return memoryTierNames[static_cast<size_t>(tier)]; }
std::optional<MemoryTier> ds::findMemoryTier(std::string_view name) {
  return findByName<MemoryTier>(memoryTierNames, name);
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

bool Layout::isReplicated() const {
  return dimAxes().empty() && partial.empty() && flat.empty() && at.empty() && memory == MemoryTier::Device;
}

AxisList Layout::dimAxes() const {
  AxisList axes;
  for (const DimLayout &dim : dims)
    for (const Factor &factor : dim)
      axes.insert(axes.end(), factor.axes.begin(), factor.axes.end());
  return axes;
}

namespace ds {
bool operator<(const Layout &a, const Layout &b) {
  return std::tie(a.dims, a.partial, a.flat, a.at, a.memory) < std::tie(b.dims, b.partial, b.flat, b.at, b.memory);
}
} // namespace ds

static std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

static std::string braced(const std::vector<std::string> &parts) { return "{" + join(parts) + "}"; }

static std::string dimText(const DimLayout &dim) {
  if (dim.size() == 1 && dim.front().size == kWholeDim)
    return braced(dim.front().axes);
  std::string text;
  for (const Factor &factor : dim)
    text += "(" + std::to_string(factor.size) + (factor.axes.empty() ? "" : braced(factor.axes)) + ")";
  return text;
}

static std::string partialText(const std::map<std::string, ReduceKind> &partial) {
  std::vector<std::string> parts;
  for (const auto &[axis, kind] : partial)
    parts.push_back(kind == ReduceKind::Sum ? axis : axis + ":" + std::string(reduceKindName(kind)));
  return braced(parts);
}

static std::string atText(const std::map<std::string, std::set<int64_t>> &at) {
  std::vector<std::string> parts;
  for (const auto &[axis, coordinates] : at) {
    std::vector<std::string> numbers;
    for (int64_t coordinate : coordinates)
      numbers.push_back(std::to_string(coordinate));
    parts.push_back(axis + " = " + (numbers.size() == 1 ? numbers.front() : braced(numbers)));
  }
  return braced(parts);
}

std::string Layout::str() const {
  std::vector<std::string> dimTexts;
  for (const DimLayout &dim : dims)
    dimTexts.push_back(dimText(dim));
  std::string text = "[" + join(dimTexts) + "]";
  if (!partial.empty())
    text += ", partial = " + partialText(partial);
  if (!flat.empty())
    text += ", flat = " + braced(flat);
  if (!at.empty())
    text += ", at = " + atText(at);
  if (memory != MemoryTier::Device)
    text += ", memory = " + std::string(memoryTierName(memory));
  return text;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

using Fault = std::optional<std::string>;

static std::string quoted(const std::string &name) { return "\"" + name + "\""; }

/// Whether the sizes of `dim`'s factors multiply to `size`; never overflows.
static bool multipliesTo(const DimLayout &dim, int64_t size) {
  int64_t rest = size;
  for (const Factor &factor : dim) {
    if (factor.size <= 0 || rest % factor.size != 0)
      return false;
    rest /= factor.size;
  }
  return size == 0 ? dim.size() == 1 : rest == 1;
}

static Fault findDimFault(const DimLayout &dim, int64_t size, size_t index) {
  const std::string name = "dim " + std::to_string(index);
  if (dim.empty())
    return name + " must have a factor, got none";
  if (dim.size() == 1 && (dim.front().size == kWholeDim || dim.front().size == size))
    return std::nullopt;
  if (!multipliesTo(dim, size))
    return "factors of " + name + " must multiply to " + std::to_string(size) + ", got " + dimText(dim);
  return std::nullopt;
}

static Fault findAxisFault(const AxisList &uses, const Mesh &mesh) {
  std::set<std::string> seen;
  for (const std::string &axis : uses) {
    if (!mesh.findAxis(axis))
      return "refers to unknown axis " + quoted(axis);
    if (!seen.insert(axis).second)
      return "axis " + quoted(axis) + " must be used at most once, got it twice";
  }
  return std::nullopt;
}

static Fault findAtFault(const Layout &layout, const Mesh &mesh) {
  for (const auto &[axis, coordinates] : layout.at) {
    const int64_t size = mesh.axisSize(axis);
    if (coordinates.empty())
      return "`at` must name a coordinate of axis " + quoted(axis) + ", got none";
    for (int64_t coordinate : {*coordinates.begin(), *coordinates.rbegin()})
      if (coordinate < 0 || coordinate >= size)
        return "`at` of axis " + quoted(axis) + " must be in [0, " + std::to_string(size) + "), got " +
               std::to_string(coordinate);
  }
  return std::nullopt;
}

static Fault findPartialFault(const Layout &layout) {
  for (const auto &[axis, kind] : layout.partial) {
    const auto &[firstAxis, firstKind] = *layout.partial.begin();
    if (kind != firstKind)
      return "partial axes must fold by one operation, got " + std::string(reduceKindName(firstKind)) + " over " +
             quoted(firstAxis) + " and " + std::string(reduceKindName(kind)) + " over " + quoted(axis);
  }
  return std::nullopt;
}

std::optional<std::string> ds::findLayoutFault(const Layout &layout, const Shape &shape, const Mesh &mesh) {
  if (layout.dims.size() != shape.size())
    return "layout must have " + std::to_string(shape.size()) + " dims, got " + std::to_string(layout.dims.size());
  for (size_t i = 0; i < shape.size(); ++i)
    if (Fault fault = findDimFault(layout.dims[i], shape[i], i))
      return fault;
  AxisList uses = layout.dimAxes();
  for (const auto &entry : layout.partial)
    uses.push_back(entry.first);
  uses.insert(uses.end(), layout.flat.begin(), layout.flat.end());
  for (const auto &entry : layout.at)
    uses.push_back(entry.first);
  if (Fault fault = findAxisFault(uses, mesh))
    return fault;
  if (Fault fault = findPartialFault(layout))
    return fault;
  return findAtFault(layout, mesh);
}
