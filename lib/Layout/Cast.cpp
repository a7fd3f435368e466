// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Layout/Cast.h"

#include "CastGraph.h"

#include <algorithm>
#include <array>
#include <cassert>

using namespace ds;

std::string_view ds::castKindName(CastKind kind) {
  static constexpr std::array<std::string_view, 9> names = {"take_shard",     "to_partial", "all_gather",
                                                            "reduce_scatter", "all_reduce", "all_to_all",
                                                            "remap",          "copy",       "transfer"};
  return names[static_cast<size_t>(kind)];
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double ds::receivedByRank(const Cast &cast, const Holdings &before, const Holdings &after, const Mesh &mesh,
                          int64_t rank) {
  const double numBefore = static_cast<double>(before.elements(rank));
  const double numAfter = static_cast<double>(after.elements(rank));
  const auto groupSize = [&] { return static_cast<double>(mesh.axisSize(cast.axis)); };
  switch (cast.kind) {
  case CastKind::TakeShard:
  case CastKind::ToPartial:
    return 0;
  case CastKind::AllGather:
    return numAfter - numBefore;
  case CastKind::ReduceScatter:
    return (groupSize() - 1) * numAfter;
  case CastKind::AllReduce:
    return 2 * (groupSize() - 1) / groupSize() * numBefore;
  case CastKind::AllToAll:
  case CastKind::Remap:
  case CastKind::Transfer:
    return static_cast<double>(after.missingElements(before, rank));
  case CastKind::Copy:
    return numBefore;
  }
  assert(false && "unknown cast");
  return 0;
}

double ds::receivedElements(const Cast &cast, const Holdings &before, const Holdings &after, const Mesh &mesh) {
  double most = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    most = std::max(most, receivedByRank(cast, before, after, mesh, rank));
  return most;
}

double ds::receivedElements(const Cast &cast, const Layout &from, const Shape &shape, const Mesh &mesh) {
  const Mesh used = meshOfUsedAxes(from, cast.result, mesh);
  return receivedElements(cast, Holdings(from, shape, used), Holdings(cast.result, shape, used), used);
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
