// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The cheapest chain of casts: a shortest path over the layouts between two layouts.

#include "CastGraph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>

using namespace ds;

using Chain = std::vector<Cast>;

namespace {
/// What a chain costs, in the order of importance.
struct ChainCost {
  int64_t received = 0; ///< in units of one element over `CastSearch::unitsPerElement`, so that ties are exact
  int64_t remaps = 0;
  int64_t casts = 0;

  friend bool operator<(const ChainCost &a, const ChainCost &b) {
    return std::tie(a.received, a.remaps, a.casts) < std::tie(b.received, b.remaps, b.casts);
  }
};

struct Node {
  ChainCost cost;
  std::optional<Cast> lastCast; ///< none at the start
  const Layout *previous = nullptr;
  bool isDone = false;
};

/// Dijkstra from `from` to `to`.
class CastSearch {
public:
  CastSearch(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh)
      : from(from), to(to), shape(shape), mesh(mesh), graph(from, to, shape) {
    for (const MeshAxis &axis : mesh.axes())
      unitsPerElement = std::lcm(unitsPerElement, axis.size);
  }

  std::optional<Chain> run(bool mayRemap);

private:
  using Entry = std::map<Layout, Node>::value_type;
  struct IsLater {
    bool operator()(const std::pair<ChainCost, Entry *> &a, const std::pair<ChainCost, Entry *> &b) const {
      // Layouts break ties, so that the answer does not depend on addresses.
      return b.first < a.first || (!(a.first < b.first) && b.second->first < a.second->first);
    }
  };

  void reach(Cast cast, const Entry &previous);
  Chain chainTo(const Layout &last) const;

  const Layout &from, &to;
  const Shape &shape;
  const Mesh &mesh;
  const CastGraph graph;
  int64_t unitsPerElement = 1;
  std::map<Layout, Node> nodes;
  std::priority_queue<std::pair<ChainCost, Entry *>, std::vector<std::pair<ChainCost, Entry *>>, IsLater> open;
};
} // namespace

void CastSearch::reach(Cast cast, const Entry &previous) {
  const auto [entry, isNew] = nodes.try_emplace(cast.result);
  Node &node = entry->second;
  if (node.isDone)
    return;
  ChainCost cost = previous.second.cost;
  // No cast is cheaper than nothing, so a node that is as near already needs no count of elements.
  if (!isNew && node.cost < cost)
    return;
  cost.received += std::llround(receivedElements(cast, previous.first, shape, mesh) * double(unitsPerElement));
  cost.remaps += cast.kind == CastKind::Remap;
  cost.casts += 1;
  if (!isNew && !(cost < node.cost))
    return;
  node = {cost, std::move(cast), &previous.first, false};
  open.push({cost, &*entry});
}

Chain CastSearch::chainTo(const Layout &last) const {
  Chain chain;
  for (const Node *node = &nodes.at(last); node->lastCast; node = &nodes.at(*node->previous))
    chain.push_back(*node->lastCast);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::optional<Chain> CastSearch::run(bool mayRemap) {
  nodes.clear();
  open = {};
  open.push({{}, &*nodes.try_emplace(from).first});
  while (!open.empty()) {
    Entry &entry = *open.top().second;
    open.pop();
    if (entry.second.isDone)
      continue;
    entry.second.isDone = true;
    if (entry.first == to)
      return chainTo(to);
    for (Cast &cast : graph.castsFrom(entry.first))
      reach(std::move(cast), entry);
    if (!mayRemap)
      continue;
    if (std::optional<Cast> remap = graph.remapFrom(entry.first))
      reach(std::move(*remap), entry);
  }
  return std::nullopt;
}

/// What the rank that receives most over the whole chain receives.
static double mostReceived(const Chain &chain, const Layout &from, const Shape &shape, const Mesh &mesh) {
  double most = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    double received = 0;
    const Layout *before = &from;
    for (const Cast &cast : chain) {
      received += receivedByRank(cast, *before, shape, mesh, rank);
      before = &cast.result;
    }
    most = std::max(most, received);
  }
  return most;
}

static bool hasRemap(const Chain &chain) {
  return std::any_of(chain.begin(), chain.end(), [](const Cast &cast) { return cast.kind == CastKind::Remap; });
}

std::optional<Chain> ds::cheapestCasts(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh) {
  if (from.dims.size() != to.dims.size())
    return std::nullopt;
  const Layout first = normalized(from, shape), last = normalized(to, shape);
  if (first == last)
    return Chain();
  // One collective is the whole chain. A detour is cheaper only for tensors that are smaller than the group.
  std::optional<Cast> single = findCast(first, last, shape, mesh);
  if (single && single->kind != CastKind::Remap)
    return Chain{std::move(*single)};

  const Mesh used = meshOfUsedAxes(first, last, mesh);
  CastSearch search(first, last, shape, used);
  std::optional<Chain> chain = search.run(/*mayRemap=*/true);
  if (!chain || !hasRemap(*chain))
    return chain;
  // Where shares are uneven, the sum of each cast's largest share overrates collectives: compare per rank.
  std::optional<Chain> collectives = search.run(/*mayRemap=*/false);
  const bool isAsCheap = collectives && mostReceived(*collectives, first, shape, used) <=
                                            mostReceived(*chain, first, shape, used);
  return isAsCheap ? collectives : chain;
}
