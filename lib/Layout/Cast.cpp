// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Layout/Cast.h"

#include "CastGraph.h"
#include "OwnedSet.h"

#include <algorithm>
#include <array>
#include <cassert>

using namespace ds;

std::string_view ds::castKindName(CastKind kind) {
  static constexpr std::array<std::string_view, 9> names = {
      "take_shard", "to_partial", "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "remap", "copy",
      "transfer"};
  return names[static_cast<size_t>(kind)];
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The elements of `to` that `rank` needs and does not own in `from`.
static int64_t missingElements(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh,
                               int64_t rank) {
  const int64_t needed = ownedElements(to, shape, mesh, rank);
  if (needed == 0)
    return 0;
  return needed - OwnedSet(to, shape, mesh, rank).commonElements(OwnedSet(from, shape, mesh, rank));
}

double ds::receivedByRank(const Cast &cast, const Layout &from, const Shape &shape, const Mesh &mesh, int64_t rank) {
  const auto before = [&] { return static_cast<double>(ownedElements(from, shape, mesh, rank)); };
  const auto after = [&] { return static_cast<double>(ownedElements(cast.result, shape, mesh, rank)); };
  const auto groupSize = [&] { return static_cast<double>(mesh.axisSize(cast.axis)); };
  switch (cast.kind) {
  case CastKind::TakeShard:
  case CastKind::ToPartial:
    return 0;
  case CastKind::AllGather:
    return after() - before();
  case CastKind::ReduceScatter:
    return (groupSize() - 1) * after();
  case CastKind::AllReduce:
    return 2 * (groupSize() - 1) / groupSize() * before();
  case CastKind::AllToAll:
  case CastKind::Remap:
    return static_cast<double>(missingElements(from, cast.result, shape, mesh, rank));
  case CastKind::Copy:
    return before();
  case CastKind::Transfer:
    return holdsValue(from, mesh, rank) ? 0 : after();
  }
  assert(false && "unknown cast");
  return 0;
}

double ds::receivedElements(const Cast &cast, const Layout &from, const Shape &shape, const Mesh &mesh) {
  const Mesh used = meshOfUsedAxes(from, cast.result, mesh);
  double most = 0;
  for (int64_t rank = 0; rank < used.numRanks(); ++rank)
    most = std::max(most, receivedByRank(cast, from, shape, used, rank));
  return most;
}

std::optional<Cast> ds::findCast(const Layout &from, const Layout &to, const Shape &shape, const Mesh &) {
  if (from == to || from.dims.size() != to.dims.size())
    return std::nullopt;
  const CastGraph graph(from, to, shape);
  for (Cast &cast : graph.castsFrom(from))
    if (cast.result == to)
      return std::move(cast);
  std::optional<Cast> remap = graph.remapFrom(from);
  return remap && remap->result == to ? remap : std::nullopt;
}
