// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ExhaustiveSearch.h"

#include <algorithm>
#include <cassert>

using namespace ds;
using namespace ds::test;

static constexpr int64_t unreachable = int64_t(1) << 60;

ExhaustiveSearch::ExhaustiveSearch(const Spelling &spelling, const std::map<std::string, ReduceKind> &axes,
                                   const Mesh &mesh)
    : spelling(spelling), shape(shapeOf(spelling)), axes(axes), mesh(mesh), nodes(allLayouts(spelling, axes, mesh)) {
  for (const Layout &node : nodes) {
    indices.emplace_back();
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      indices.back().push_back(referenceIndices(node, shape, mesh, rank));
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    addEdges(i);
  for (size_t i = 0; i < nodes.size(); ++i)
    distances.push_back(distancesTo(i));
}

std::vector<ExhaustiveSearch::Edge> ExhaustiveSearch::edgesTowards(size_t target) const {
  const Layout &to = nodes[target];
  std::vector<Edge> edges;
  for (const Edge &edge : collectives)
    if (edge.kind != CastKind::ToPartial || to.partial.count(edge.axis))
      edges.push_back(edge);
  for (size_t i = 0; i < nodes.size(); ++i) {
    Layout remapped = nodes[i];
    remapped.dims = to.dims;
    remapped.flat = to.flat;
    const auto drop = [&](AxisList &list) {
      list.erase(std::remove_if(
                     list.begin(), list.end(),
                     [&](const std::string &axis) { return remapped.partial.count(axis) || remapped.at.count(axis); }),
                 list.end());
    };
    drop(remapped.flat);
    for (DimLayout &dim : remapped.dims)
      for (Factor &factor : dim)
        drop(factor.axes);
    const size_t last = indexOf(normalized(remapped, shape));
    edges.push_back({CastKind::Remap, "", i, last, received(CastKind::Remap, "", nodes[i], nodes[last])});
  }
  return edges;
}

/// Bellman and Ford.
std::vector<int64_t> ExhaustiveSearch::distancesTo(size_t target) const {
  const std::vector<Edge> edges = edgesTowards(target);
  std::vector<int64_t> distance(nodes.size(), unreachable);
  distance[target] = 0;
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (const Edge &edge : edges)
      if (distance[edge.to] + edge.units < distance[edge.from]) {
        distance[edge.from] = distance[edge.to] + edge.units;
        hasChanged = true;
      }
  }
  return distance;
}

size_t ExhaustiveSearch::indexOf(const Layout &layout) const {
  const auto found = std::lower_bound(nodes.begin(), nodes.end(), layout);
  assert(found != nodes.end() && *found == layout && "not one of the layouts");
  return found - nodes.begin();
}

bool ExhaustiveSearch::hasAllPlaces(const Layout &from, const Layout &to) const {
  for (size_t dim = 0; dim < spelling.size(); ++dim)
    if (std::min(from.dims[dim].size(), to.dims[dim].size()) < spelling[dim].size())
      return false;
  return true;
}

int64_t ExhaustiveSearch::receivedByRank(CastKind kind, const std::string &axis, const Layout &from, const Layout &to,
                                         int64_t rank) const {
  const std::vector<int64_t> &owned = indices[indexOf(from)][rank], &needed = indices[indexOf(to)][rank];
  const auto numOwned = static_cast<int64_t>(owned.size()), numNeeded = static_cast<int64_t>(needed.size());
  switch (kind) {
  case CastKind::TakeShard:
  case CastKind::ToPartial:
    return 0;
  case CastKind::ReduceScatter:
    return (mesh.axisSize(axis) - 1) * numNeeded * unitsPerElement;
  case CastKind::AllReduce:
    return 2 * (mesh.axisSize(axis) - 1) * numOwned * unitsPerElement / mesh.axisSize(axis);
  case CastKind::Copy:
    return numOwned * unitsPerElement;
  case CastKind::AllGather:
  case CastKind::AllToAll:
  case CastKind::Remap:
  case CastKind::Transfer:
    break;
  }
  std::vector<int64_t> missing;
  std::set_difference(needed.begin(), needed.end(), owned.begin(), owned.end(), std::back_inserter(missing));
  return static_cast<int64_t>(missing.size()) * unitsPerElement;
}

int64_t ExhaustiveSearch::received(CastKind kind, const std::string &axis, const Layout &from, const Layout &to) const {
  int64_t most = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    most = std::max(most, receivedByRank(kind, axis, from, to, rank));
  return most;
}

int64_t ExhaustiveSearch::cheapest(const Layout &from, const Layout &to) const {
  return distances[indexOf(to)][indexOf(from)];
}

std::optional<CastKind> ExhaustiveSearch::findCollective(const Layout &from, const Layout &to) const {
  const size_t first = indexOf(from), last = indexOf(to);
  for (const Edge &edge : collectives)
    if (edge.from == first && edge.to == last)
      return edge.kind;
  return std::nullopt;
}

void ExhaustiveSearch::addEdge(CastKind kind, const std::string &axis, size_t from, Layout to) {
  const size_t last = indexOf(normalized(std::move(to), shape));
  if (from == last)
    return;
  collectives.push_back({kind, axis, from, last, received(kind, axis, nodes[from], nodes[last])});
}

/// `layout` with all dims in the factors of the spelling.
static Layout spelled(Layout layout, const Spelling &spelling, const Shape &shape) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    DimLayout result, rest = resolvedDim(layout.dims[dim], shape[dim]);
    for (int64_t size : spelling[dim]) {
      result.push_back({size, rest.front().axes});
      rest.front().size /= size;
      if (rest.front().size == 1)
        rest.erase(rest.begin());
    }
    layout.dims[dim] = result;
  }
  return layout;
}

void ExhaustiveSearch::addAppendEdges(CastKind kind, const std::string &axis, size_t from, const Layout &without) {
  if (kind != CastKind::AllToAll) {
    Layout flat = without;
    flat.flat.push_back(axis);
    addEdge(kind, axis, from, flat);
  }
  if (!without.flat.empty())
    return;
  const Layout base = spelled(without, spelling, shape);
  for (size_t dim = 0; dim < base.dims.size(); ++dim)
    for (size_t factor = 0; factor < base.dims[dim].size(); ++factor) {
      Layout to = base;
      to.dims[dim][factor].axes.push_back(axis);
      addEdge(kind, axis, from, to);
    }
}

void ExhaustiveSearch::addTransfers(size_t from, const std::string &axis) {
  for (int64_t coordinate : {int64_t(0), mesh.axisSize(axis) - 1}) {
    Layout to = nodes[from];
    to.at[axis] = {coordinate};
    addEdge(CastKind::Transfer, axis, from, to);
  }
}

/// The casts of an axis that is replicated, or in `at` (`without` lacks it).
void ExhaustiveSearch::addEdgesOfFreeAxis(size_t from, const std::string &axis, const Layout &without) {
  addTransfers(from, axis);
  Layout partial = without;
  partial.partial[axis] = axes.at(axis);
  if (without.partial.empty() || without.partial.begin()->second == axes.at(axis))
    addEdge(CastKind::ToPartial, axis, from, partial);
  if (nodes[from].at.count(axis))
    addEdge(CastKind::Transfer, axis, from, without);
  else
    addAppendEdges(CastKind::TakeShard, axis, from, without);
}

/// `layout` without `axis`, if that is minor-most of a factor.
static std::optional<Layout> withoutMinorMost(Layout layout, const std::string &axis) {
  for (DimLayout &dim : layout.dims)
    for (Factor &factor : dim)
      if (!factor.axes.empty() && factor.axes.back() == axis) {
        factor.axes.pop_back();
        return layout;
      }
  return std::nullopt;
}

void ExhaustiveSearch::addEdges(size_t from) {
  const Layout &node = nodes[from];
  for (const auto &entry : axes) {
    const std::string &axis = entry.first;
    const AxisList dimAxes = node.dimAxes();
    Layout without = node;
    if (without.partial.erase(axis)) {
      addEdge(CastKind::AllReduce, axis, from, without);
      addAppendEdges(CastKind::ReduceScatter, axis, from, without);
    } else if (std::count(node.flat.begin(), node.flat.end(), axis)) {
      without.flat.pop_back();
      if (node.flat.back() == axis)
        addEdge(CastKind::AllGather, axis, from, without);
    } else if (!std::count(dimAxes.begin(), dimAxes.end(), axis)) {
      without.at.erase(axis);
      addEdgesOfFreeAxis(from, axis, without);
    } else if (std::optional<Layout> gathered = withoutMinorMost(node, axis); gathered && node.flat.empty()) {
      addEdge(CastKind::AllGather, axis, from, *gathered);
      addAppendEdges(CastKind::AllToAll, axis, from, normalized(*gathered, shape));
    }
  }
}
