// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Layout casts: the identity on values, each with a cost, and the cheapest chain of them between two layouts.

#ifndef DS_LAYOUT_CAST_H
#define DS_LAYOUT_CAST_H

#include "ds/Layout/Layout.h"

namespace ds {

enum class CastKind : uint8_t {
  TakeShard,     ///< append an axis, minor-most, to a factor or to flat; moves nothing
  ToPartial,     ///< replicated over an axis, or `at` some of its coordinates -> partial over it; the lowest coordinate
                 ///< that holds the value keeps it, the others get the neutral element
  AllGather,     ///< remove the minor-most axis of a factor or of flat
  ReduceScatter, ///< partial axis -> minor-most of a factor or of flat
  AllReduce,     ///< partial axis -> replicated
  AllToAll,      ///< minor-most axis of one factor -> minor-most of another
  Remap,         ///< any two layouts with equal partial and at
  Copy,          ///< another memory tier
  Transfer,      ///< another set of coordinates in `at` for one axis, or all of them (a broadcast)
};
std::string_view castKindName(CastKind kind);

/// A place in a layout that can carry axes: factor `factor` of dim `dim`, or `flat`. Factors are counted in the
/// normalized layout that has the axis there: the source for `Cast::from`, the result for `Cast::to`.
struct AxisPlace {
  bool isFlat = false;
  size_t dim = 0, factor = 0;
  friend bool operator==(const AxisPlace &a, const AxisPlace &b) {
    return a.isFlat == b.isFlat && a.dim == b.dim && a.factor == b.factor;
  }
};

/// One cast. `axis` is the axis that moves (empty for Remap and Copy); `from`/`to` say which place loses or gains it.
struct Cast {
  CastKind kind;
  std::string axis;
  std::optional<AxisPlace> from;       ///< AllGather, AllToAll
  std::optional<AxisPlace> to;         ///< TakeShard, ReduceScatter, AllToAll
  ReduceKind reduce = ReduceKind::Sum; ///< ToPartial, ReduceScatter, AllReduce
  Layout result;                       ///< normalized
};

/// The cast that leads from `from` to `to` (both normalized) in one step, or nothing. `copy` beside another change is
/// two steps. Never Remap if a cheaper or equal cast does it. Elements move between ranks on the device, or in another
/// tier if both layouts are in tiers that are not the device.
std::optional<Cast> findCast(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh);

/// Elements received by the rank that receives most, when `cast` is applied to `from`. For AllReduce of n elements over
/// k ranks 2 (k-1)/k n, ReduceScatter (k-1) n_out, AllGather n_out - n_in, TakeShard and ToPartial 0, AllToAll and
/// Remap needed minus owned, Transfer n, or 0 to fewer coordinates. Copy: n (over its own link). With even cuts
/// ReduceScatter and AllToAll are (k-1)/k n_in.
double receivedElements(const Cast &cast, const Layout &from, const Shape &shape, const Mesh &mesh);

/// The cheapest chain of casts from `from` to `to`: a shortest path (Dijkstra) by the sum of received elements, then by
/// number of remaps, then by number of casts. One cast that does it all, other than Remap, is the whole chain (which
/// matters for tensors smaller than their group only). A chain without Remap is also taken if no rank receives more
/// over the whole chain than the worst rank does with Remap: uneven shares alone never turn collectives into
/// point-to-point traffic. Axes that lie the same in both layouts, or in neither, stay where they are, an axis becomes
/// partial only if it is so in `to`, and Remap goes straight to the dims and flat of `to` (less axes that are still
/// partial). Between the two, axes lie on factors of `from` or `to` or in flat. Empty if the layouts are equal; nothing
/// if they have different numbers of dims.
std::optional<std::vector<Cast>> cheapestCasts(const Layout &from, const Layout &to, const Shape &shape,
                                               const Mesh &mesh);

} // namespace ds

#endif // DS_LAYOUT_CAST_H
