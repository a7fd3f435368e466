// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The casts that can lead from one layout to another: the edges that the search for the cheapest chain walks.

#ifndef DS_LIB_LAYOUT_CASTGRAPH_H
#define DS_LIB_LAYOUT_CASTGRAPH_H

#include "OwnedSet.h"

#include "ds/Layout/Cast.h"

namespace ds {

/// The axes of the mesh that `from` or `to` use, in mesh order: extents depend on no others.
Mesh meshOfUsedAxes(const Layout &from, const Layout &to, const Mesh &mesh);

/// What `rank` receives by `cast`, in elements, where ranks own `before` and then `after`.
double receivedByRank(const Cast &cast, const Holdings &before, const Holdings &after, const Mesh &mesh, int64_t rank);
/// The same for the rank that receives most.
double receivedElements(const Cast &cast, const Holdings &before, const Holdings &after, const Mesh &mesh);

/// The layouts between `from` and `to` (both normalized) and the casts that join them. Only axes whose place differs
/// are moved; a place is a factor of `from` or of `to`, or flat.
class CastGraph {
public:
  CastGraph(const Layout &from, const Layout &to, const Shape &shape);

  /// All casts of one axis (or of the memory tier) from `layout`.
  std::vector<Cast> castsFrom(const Layout &layout) const;

  /// The remap of `layout` that makes its dims and flat those of `to`, as far as `layout` has the axes free.
  std::optional<Cast> remapFrom(const Layout &layout) const;

  /// The number of axes whose place differs.
  size_t numActiveAxes() const { return activeAxes.size(); }

private:
  void addGathersAndAllToAlls(const Layout &layout, std::vector<Cast> &casts) const;
  void addReductions(const Layout &layout, std::vector<Cast> &casts) const;
  void addFreeCasts(const Layout &layout, std::vector<Cast> &casts) const;
  void addTransfers(const Layout &layout, std::vector<Cast> &casts) const;
  void addAppended(Cast cast, const Layout &layout, bool withFlat, std::vector<Cast> &casts) const;
  void addAppendedToDim(const Cast &cast, const Layout &layout, size_t dim, std::vector<Cast> &casts) const;

  bool movesBetweenOverlappingFactors(const Cast &cast, const Layout &layout) const;
  bool isActive(const std::string &axis) const { return activeAxes.count(axis) != 0; }
  bool mayMove(const Layout &layout) const;

  const Layout &from, &to;
  const Shape &shape;
  std::set<std::string> activeAxes;
};

} // namespace ds

#endif // DS_LIB_LAYOUT_CASTGRAPH_H
