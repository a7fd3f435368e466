// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The cheapest chains between all layouts of a small tensor, by looking at all casts between all of them.

#ifndef DS_TEST_UNIT_LAYOUT_EXHAUSTIVESEARCH_H
#define DS_TEST_UNIT_LAYOUT_EXHAUSTIVESEARCH_H

#include "Reference.h"

namespace ds::test {

/// Counts elements in this fraction of one, so that sums compare exactly.
inline constexpr int64_t unitsPerElement = 840;

/// All layouts of one tensor over some axes, and the casts between them by their definition in docs/layouts.md.
class ExhaustiveSearch {
public:
  ExhaustiveSearch(const Spelling &spelling, const std::map<std::string, ReduceKind> &axes, const Mesh &mesh);

  const std::vector<Layout> &layouts() const { return nodes; }

  /// Whether both layouts show all factors of the spelling, so that a chain uses no other places.
  bool hasAllPlaces(const Layout &from, const Layout &to) const;

  /// What `rank` receives, in units, by the cast of `kind` of `axis` between two of the layouts.
  int64_t receivedByRank(CastKind kind, const std::string &axis, const Layout &from, const Layout &to,
                         int64_t rank) const;
  /// The same for the rank that receives most.
  int64_t received(CastKind kind, const std::string &axis, const Layout &from, const Layout &to) const;
  /// The units of the cheapest chain. As in the library, to_partial only serves a `to` that is partial, and remap goes
  /// straight to the dims and flat of `to`.
  int64_t cheapest(const Layout &from, const Layout &to) const;
  /// The cast other than Remap from one layout to another, if there is one.
  std::optional<CastKind> findCollective(const Layout &from, const Layout &to) const;

private:
  struct Edge {
    CastKind kind;
    std::string axis;
    size_t from, to;
    int64_t units;
  };

  size_t indexOf(const Layout &layout) const;
  void addEdges(size_t from);
  void addEdgesOfFreeAxis(size_t from, const std::string &axis, const Layout &without);
  void addTransfers(size_t from, const std::string &axis);
  void addAppendEdges(CastKind kind, const std::string &axis, size_t from, const Layout &without);
  void addEdge(CastKind kind, const std::string &axis, size_t from, Layout to);
  std::vector<Edge> edgesTowards(size_t target) const;
  std::vector<int64_t> distancesTo(size_t target) const;

  Spelling spelling;
  Shape shape;
  std::map<std::string, ReduceKind> axes;
  Mesh mesh;
  std::vector<Layout> nodes;
  std::vector<std::vector<std::vector<int64_t>>> indices; ///< [layout][rank]
  std::vector<Edge> collectives;                          ///< all casts but Remap
  std::vector<std::vector<int64_t>> distances;            ///< [to][from], units
};

} // namespace ds::test

#endif // DS_TEST_UNIT_LAYOUT_EXHAUSTIVESEARCH_H
