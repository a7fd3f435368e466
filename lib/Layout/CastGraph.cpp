// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CastGraph.h"

#include <algorithm>

using namespace ds;

//===----------------------------------------------------------------------===//
// Which axes move
//===----------------------------------------------------------------------===//

static std::set<std::string> usedAxes(const Layout &layout) {
  const AxisList dimAxes = layout.dimAxes();
  std::set<std::string> axes(dimAxes.begin(), dimAxes.end());
  axes.insert(layout.flat.begin(), layout.flat.end());
  for (const auto &entry : layout.partial)
    axes.insert(entry.first);
  for (const auto &entry : layout.at)
    axes.insert(entry.first);
  return axes;
}

Mesh ds::meshOfUsedAxes(const Layout &from, const Layout &to, const Mesh &mesh) {
  std::set<std::string> used = usedAxes(from);
  used.merge(usedAxes(to));
  std::vector<MeshAxis> axes;
  for (const MeshAxis &axis : mesh.axes())
    if (used.count(axis.name))
      axes.push_back(axis);
  return Mesh(std::move(axes));
}

static void eraseCommonPrefix(const AxisList &a, const AxisList &b, std::set<std::string> &axes) {
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i)
    axes.erase(a[i]);
}

namespace {
/// A factor of a dim, and where it lies: `below` elements of the dim lie in minor factors, and so many factors of the
/// same size and place, which is possible for size 1 alone, come before it from the minor end.
struct PlacedFactor {
  const Factor *factor;
  int64_t below, equalBefore;
};
} // namespace

static std::vector<PlacedFactor> placedFactors(const DimLayout &dim) {
  std::vector<PlacedFactor> placed;
  int64_t below = 1;
  for (auto factor = dim.rbegin(); factor != dim.rend(); below *= factor++->size) {
    const bool isRepeated =
        !placed.empty() && placed.back().below == below && placed.back().factor->size == factor->size;
    placed.push_back({&*factor, below, isRepeated ? placed.back().equalBefore + 1 : 0});
  }
  return placed;
}

/// Erases the axes that lie equally on equal factors (same size, same number of elements below) of one dim.
static void eraseSettledInDim(const DimLayout &a, const DimLayout &b, std::set<std::string> &axes) {
  const std::vector<PlacedFactor> placedB = placedFactors(b);
  for (const PlacedFactor &inA : placedFactors(a))
    for (const PlacedFactor &inB : placedB)
      if (inA.below == inB.below && inA.equalBefore == inB.equalBefore && inA.factor->size == inB.factor->size)
        eraseCommonPrefix(inA.factor->axes, inB.factor->axes, axes);
}

template <typename Value>
static void eraseEqualEntries(const std::map<std::string, Value> &a, const std::map<std::string, Value> &b,
                              std::set<std::string> &axes) {
  for (const auto &[axis, value] : a) {
    const auto other = b.find(axis);
    if (other != b.end() && other->second == value)
      axes.erase(axis);
  }
}

CastGraph::CastGraph(const Layout &from, const Layout &to, const Shape &shape)
    : from(from), to(to), shape(shape), activeAxes(usedAxes(from)) {
  activeAxes.merge(usedAxes(to));
  for (size_t i = 0; i < shape.size(); ++i)
    eraseSettledInDim(resolvedDim(from.dims[i], shape[i]), resolvedDim(to.dims[i], shape[i]), activeAxes);
  // Under other dims the same flat axes cut another vector.
  if (from.dims == to.dims)
    eraseCommonPrefix(from.flat, to.flat, activeAxes);
  eraseEqualEntries(from.partial, to.partial, activeAxes);
  eraseEqualEntries(from.at, to.at, activeAxes);
}

/// Elements move between ranks on the device, or in another tier that neither end of the chain leaves for the device.
bool CastGraph::mayMove(const Layout &layout) const {
  return layout.memory == MemoryTier::Device || (from.memory != MemoryTier::Device && to.memory != MemoryTier::Device);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// `dim` (normalized, resolved) written with the factor sizes of `spelling`, or nothing. Only factors without axes
/// are cut.
static std::optional<DimLayout> respelled(const DimLayout &dim, const DimLayout &spelling) {
  DimLayout result, rest(dim.rbegin(), dim.rend());
  for (const Factor &wanted : spelling) {
    if (rest.empty())
      return std::nullopt;
    Factor &front = rest.back();
    const bool isCut = front.axes.empty() && wanted.size != 0 && front.size % wanted.size == 0; // sizes may be 0
    const bool fits = front.size == wanted.size || isCut;
    if (!fits)
      return std::nullopt;
    result.push_back({wanted.size, front.axes});
    if (front.size == wanted.size)
      rest.pop_back();
    else
      front.size /= wanted.size;
  }
  return rest.empty() ? std::optional(result) : std::nullopt;
}

/// The place of `axis` in the dims of `layout`.
static AxisPlace placeOf(const std::string &axis, const Layout &layout) {
  for (size_t dim = 0; dim < layout.dims.size(); ++dim)
    for (size_t factor = 0; factor < layout.dims[dim].size(); ++factor) {
      const AxisList &axes = layout.dims[dim][factor].axes;
      if (std::find(axes.begin(), axes.end(), axis) != axes.end())
        return {false, dim, factor};
    }
  return {true, 0, 0};
}

void CastGraph::addAppendedToDim(const Cast &cast, const Layout &layout, size_t dim, std::vector<Cast> &casts) const {
  const DimLayout own = resolvedDim(layout.dims[dim], shape[dim]);
  std::vector<DimLayout> spellings;
  for (const Layout *end : {&from, &to})
    if (std::optional<DimLayout> spelling = respelled(own, resolvedDim(end->dims[dim], shape[dim])))
      if (std::find(spellings.begin(), spellings.end(), *spelling) == spellings.end())
        spellings.push_back(std::move(*spelling));
  for (const DimLayout &spelling : spellings)
    for (size_t factor = 0; factor < spelling.size(); ++factor) {
      Cast appended = cast;
      appended.result = layout;
      appended.result.dims[dim] = spelling;
      appended.result.dims[dim][factor].axes.push_back(cast.axis);
      appended.result = normalized(std::move(appended.result), shape);
      appended.to = placeOf(cast.axis, appended.result);
      casts.push_back(std::move(appended));
    }
}

/// Adds `cast` once for each place where `layout`, which lacks the cast's axis, can take it.
void CastGraph::addAppended(Cast cast, const Layout &layout, bool withFlat, std::vector<Cast> &casts) const {
  if (layout.flat.empty())
    for (size_t dim = 0; dim < shape.size(); ++dim)
      addAppendedToDim(cast, layout, dim, casts);
  if (!withFlat)
    return;
  cast.result = layout;
  cast.result.flat.push_back(cast.axis);
  cast.to = AxisPlace{true, 0, 0};
  casts.push_back(std::move(cast));
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

static Cast makeCast(CastKind kind, std::string axis, Layout result) {
  return {kind, std::move(axis), std::nullopt, std::nullopt, ReduceKind::Sum, std::move(result)};
}

void CastGraph::addGathersAndAllToAlls(const Layout &layout, std::vector<Cast> &casts) const {
  if (!layout.flat.empty()) {
    if (!isActive(layout.flat.back()))
      return;
    Cast gather = makeCast(CastKind::AllGather, layout.flat.back(), layout);
    gather.result.flat.pop_back();
    gather.from = AxisPlace{true, 0, 0};
    casts.push_back(std::move(gather));
    return;
  }
  for (size_t dim = 0; dim < shape.size(); ++dim)
    for (size_t factor = 0; factor < layout.dims[dim].size(); ++factor) {
      const AxisList &axes = layout.dims[dim][factor].axes;
      if (axes.empty() || !isActive(axes.back()))
        continue;
      Cast gather = makeCast(CastKind::AllGather, axes.back(), layout);
      gather.result.dims[dim][factor].axes.pop_back();
      gather.result = normalized(std::move(gather.result), shape);
      gather.from = AxisPlace{false, dim, factor};
      Cast allToAll = gather;
      allToAll.kind = CastKind::AllToAll;
      const Layout without = gather.result;
      casts.push_back(std::move(gather));
      addAppended(std::move(allToAll), without, /*withFlat=*/false, casts);
    }
}

void CastGraph::addReductions(const Layout &layout, std::vector<Cast> &casts) const {
  for (const auto &[axis, kind] : layout.partial) {
    if (!isActive(axis))
      continue;
    Cast allReduce = makeCast(CastKind::AllReduce, axis, layout);
    allReduce.result.partial.erase(axis);
    allReduce.reduce = kind;
    Cast reduceScatter = allReduce;
    reduceScatter.kind = CastKind::ReduceScatter;
    const Layout without = allReduce.result;
    casts.push_back(std::move(allReduce));
    addAppended(std::move(reduceScatter), without, /*withFlat=*/true, casts);
  }
}

/// Whether `kind` may join the partial axes of `layout`: all must fold by one operation.
static bool foldsLike(const Layout &layout, ReduceKind kind) {
  return layout.partial.empty() || layout.partial.begin()->second == kind;
}

/// take_shard of axes that nothing uses, to_partial of those that `to` wants partial.
void CastGraph::addFreeCasts(const Layout &layout, std::vector<Cast> &casts) const {
  const std::set<std::string> used = usedAxes(layout);
  for (const std::string &axis : activeAxes) {
    const bool isReplicated = used.count(axis) == 0;
    if (isReplicated)
      addAppended(makeCast(CastKind::TakeShard, axis, {}), layout, /*withFlat=*/true, casts);
    const auto wanted = to.partial.find(axis);
    if (wanted == to.partial.end() || !(isReplicated || layout.at.count(axis)) || !foldsLike(layout, wanted->second))
      continue;
    Cast toPartial = makeCast(CastKind::ToPartial, axis, layout);
    toPartial.result.at.erase(axis);
    toPartial.result.partial[axis] = toPartial.reduce = wanted->second;
    casts.push_back(std::move(toPartial));
  }
}

void CastGraph::addTransfers(const Layout &layout, std::vector<Cast> &casts) const {
  const std::set<std::string> used = usedAxes(layout);
  for (const std::string &axis : activeAxes) {
    const bool hasSet = layout.at.count(axis) != 0;
    const auto wanted = to.at.find(axis);
    if (wanted != to.at.end() && (hasSet || !used.count(axis))) {
      casts.push_back(makeCast(CastKind::Transfer, axis, layout));
      casts.back().result.at[axis] = wanted->second;
    }
    if (hasSet) {
      casts.push_back(makeCast(CastKind::Transfer, axis, layout));
      casts.back().result.at.erase(axis);
    }
  }
}

/// Whether `cast` moves an axis between two factors of one dim that overlap, such as from `(4{a})(2)` to `(2)(4{a})`:
/// the elements that two ranks exchange are then no block, so no collective moves them.
bool CastGraph::movesBetweenOverlappingFactors(const Cast &cast, const Layout &layout) const {
  if (cast.kind != CastKind::AllToAll || cast.from->dim != cast.to->dim)
    return false;
  const size_t dim = cast.from->dim;
  return !commonSpelling(resolvedDim(layout.dims[dim], shape[dim]), resolvedDim(cast.result.dims[dim], shape[dim]));
}

std::vector<Cast> CastGraph::castsFrom(const Layout &layout) const {
  std::vector<Cast> casts;
  if (mayMove(layout)) {
    addGathersAndAllToAlls(layout, casts);
    addReductions(layout, casts);
    addTransfers(layout, casts);
  }
  addFreeCasts(layout, casts);
  if (layout.memory != to.memory) {
    casts.push_back(makeCast(CastKind::Copy, "", layout));
    casts.back().result.memory = to.memory;
  }
  const auto isNoCast = [&](const Cast &cast) {
    return cast.result == layout || movesBetweenOverlappingFactors(cast, layout);
  };
  casts.erase(std::remove_if(casts.begin(), casts.end(), isNoCast), casts.end());
  return casts;
}

std::optional<Cast> CastGraph::remapFrom(const Layout &layout) const {
  if (!mayMove(layout))
    return std::nullopt;
  const auto isTaken = [&](const std::string &axis) { return layout.partial.count(axis) || layout.at.count(axis); };
  Cast remap = makeCast(CastKind::Remap, "", layout);
  remap.result.dims = to.dims;
  remap.result.flat = to.flat;
  for (DimLayout &dim : remap.result.dims)
    for (Factor &factor : dim)
      factor.axes.erase(std::remove_if(factor.axes.begin(), factor.axes.end(), isTaken), factor.axes.end());
  AxisList &flat = remap.result.flat;
  flat.erase(std::remove_if(flat.begin(), flat.end(), isTaken), flat.end());
  remap.result = normalized(std::move(remap.result), shape);
  return remap.result == layout ? std::nullopt : std::optional(remap);
}
