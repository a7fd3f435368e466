// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The cheapest chain of casts: a shortest path over the layouts between two layouts.

#include "CastGraph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

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

struct LayoutHash {
  size_t operator()(const Layout &layout) const {
    size_t hash = static_cast<size_t>(layout.memory);
    const auto add = [&](size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u; };
    const auto addName = [&](const std::string &name) { add(std::hash<std::string>()(name)); };
    for (const DimLayout &dim : layout.dims) {
      add(dim.size());
      for (const Factor &factor : dim) {
        add(static_cast<size_t>(factor.size));
        std::for_each(factor.axes.begin(), factor.axes.end(), addName);
      }
    }
    add(layout.flat.size());
    std::for_each(layout.flat.begin(), layout.flat.end(), addName);
    for (const auto &entry : layout.partial)
      addName(entry.first);
    add(layout.at.size());
    for (const auto &[axis, coordinates] : layout.at) {
      addName(axis);
      std::for_each(coordinates.begin(), coordinates.end(), add);
    }
    return hash;
  }
};

struct Node {
  std::optional<Holdings> holdings; ///< made when first reached; of no search in particular
  std::optional<ChainCost> cost;    ///< of the cheapest chain so far; none if not reached
  std::optional<Cast> lastCast;     ///< of that chain; none at the start
  const Node *previous = nullptr;
  bool isDone = false;
};

/// Dijkstra from `from` to `to`.
class CastSearch {
public:
  CastSearch(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh)
      : from(from), shape(shape), mesh(mesh), graph(from, to, shape), target(entryOf(to)) {
    for (const MeshAxis &axis : mesh.axes())
      unitsPerElement = std::lcm(unitsPerElement, axis.size);
  }

  std::optional<Chain> run(bool mayRemap);
  /// What the rank that receives most over the whole chain receives.
  double mostReceived(const Chain &chain);

private:
  using Nodes = std::unordered_map<Layout, Node, LayoutHash>;
  using Entry = Nodes::value_type;
  using OpenEntry = std::pair<ChainCost, Entry *>;
  struct IsLater {
    bool operator()(const OpenEntry &a, const OpenEntry &b) const {
      // Layouts break ties, so that the answer does not depend on addresses.
      return b.first < a.first || (!(a.first < b.first) && b.second->first < a.second->first);
    }
  };

  Entry &entryOf(const Layout &layout);
  void start();
  void reach(Cast cast, Entry &previous);

  const Layout &from;
  const Shape &shape;
  const Mesh &mesh;
  const CastGraph graph;
  int64_t unitsPerElement = 1;
  Nodes nodes;
  Entry &target;
  std::priority_queue<OpenEntry, std::vector<OpenEntry>, IsLater> open;
};
} // namespace

CastSearch::Entry &CastSearch::entryOf(const Layout &layout) {
  Entry &entry = *nodes.try_emplace(layout).first;
  if (!entry.second.holdings)
    entry.second.holdings.emplace(entry.first, shape, mesh);
  return entry;
}

void CastSearch::start() {
  open = {};
  for (Entry &entry : nodes) {
    entry.second.cost.reset();
    entry.second.isDone = false;
  }
  Entry &entry = entryOf(from);
  entry.second.cost = ChainCost();
  open.push({ChainCost(), &entry});
}

void CastSearch::reach(Cast cast, Entry &previous) {
  ChainCost cost = *previous.second.cost;
  cost.remaps += cast.kind == CastKind::Remap;
  cost.casts += 1;
  // No cast is cheaper than nothing, so what is known to be nearer needs no count of elements.
  const auto isAtLeastAsNear = [&](const Node &node) { return node.cost && !(cost < *node.cost); };
  if (isAtLeastAsNear(target.second))
    return;
  Entry &entry = entryOf(cast.result);
  Node &node = entry.second;
  if (node.isDone || isAtLeastAsNear(node))
    return;
  const double received = receivedElements(cast, *previous.second.holdings, *node.holdings, mesh);
  cost.received += std::llround(received * static_cast<double>(unitsPerElement));
  if (isAtLeastAsNear(target.second) || isAtLeastAsNear(node))
    return;
  node.cost = cost;
  node.lastCast = std::move(cast);
  node.previous = &previous.second;
  open.push({cost, &entry});
}

/// The casts that led to `node`.
static Chain chainTo(const Node *node) {
  Chain chain;
  for (; node->previous; node = node->previous)
    chain.push_back(*node->lastCast);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::optional<Chain> CastSearch::run(bool mayRemap) {
  start();
  while (!open.empty()) {
    Entry &entry = *open.top().second;
    open.pop();
    if (entry.second.isDone)
      continue;
    entry.second.isDone = true;
    if (&entry == &target)
      return chainTo(&entry.second);
    // The remap first: where it ends at `to`, it bounds the rest of the search.
    if (std::optional<Cast> remap = mayRemap ? graph.remapFrom(entry.first) : std::nullopt)
      reach(std::move(*remap), entry);
    for (Cast &cast : graph.castsFrom(entry.first))
      reach(std::move(cast), entry);
  }
  return std::nullopt;
}

double CastSearch::mostReceived(const Chain &chain) {
  double most = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    double received = 0;
    const Holdings *before = &*entryOf(from).second.holdings;
    for (const Cast &cast : chain) {
      const Holdings *after = &*entryOf(cast.result).second.holdings;
      received += receivedByRank(cast, *before, *after, mesh, rank);
      before = after;
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
  const bool isAsCheap = collectives && search.mostReceived(*collectives) <= search.mostReceived(*chain);
  return isAsCheap ? collectives : chain;
}
