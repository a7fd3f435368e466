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

/// Elements received by the rank that receives most, when `cast` is applied to `from`. With n_in and n_out elements of
/// that rank before and after, over k ranks:
///   AllReduce              2 (k-1)/k n_in
///   ReduceScatter          (k-1) n_out; with even cuts that is (k-1)/k n_in
///   AllGather              n_out - n_in
///   TakeShard, ToPartial   0
///   AllToAll, Remap        the elements that the rank needs and does not have; with even cuts (k-1)/k n_in
///   Transfer               n_out, or 0 where the rank has the value already
///   Copy                   n_in, over the link between the two memories
double receivedElements(const Cast &cast, const Layout &from, const Shape &shape, const Mesh &mesh);

/// The cheapest chain of casts from `from` to `to`: a shortest path (Dijkstra) by the sum of received elements, then by
/// number of remaps, then by number of casts. Empty if the layouts are equal; nothing if they have different numbers of
/// dims.
///
/// A single cast that does it all, other than Remap, is the whole chain. (That only matters for tensors with fewer
/// elements than ranks.) A chain without Remap is also taken if no rank receives more over the whole chain than the
/// worst rank does with Remap: uneven shares alone never turn collectives into point-to-point traffic.
///
/// The search is limited. An axis that both layouts use in the same way, or that neither uses, is left alone. An axis
/// cuts only factors that it cuts in `from` or in `to`, or the flat vector. An axis becomes partial only if it is
/// partial in `to`. Remap goes straight to the dims and flat of `to`, without those axes that are still partial.
std::optional<std::vector<Cast>> cheapestCasts(const Layout &from, const Layout &to, const Shape &shape,
                                               const Mesh &mesh);

} // namespace ds

#endif // DS_LAYOUT_CAST_H
