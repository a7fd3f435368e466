// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Layout casts: the identity on values, each with a cost, and the cheapest chain of them between two layouts.

#ifndef DS_LAYOUT_CAST_H
#define DS_LAYOUT_CAST_H

#include "ds/Layout/Layout.h"

namespace ds {

enum class CastKind : uint8_t {
  TakeShard,     ///< append an axis, minor-most, to a factor or to flat; moves nothing
  ToPartial,     ///< replicated over an axis -> partial over it; coordinate 0 keeps the value, others the neutral element
  AllGather,     ///< remove the minor-most axis of a factor or of flat
  ReduceScatter, ///< partial axis -> minor-most of a factor or of flat
  AllReduce,     ///< partial axis -> replicated
  AllToAll,      ///< minor-most axis of one factor -> minor-most of another
  Remap,         ///< any two layouts with equal partial and at
  Copy,          ///< another memory tier
  Transfer,      ///< another set of coordinates in `at`
};
std::string_view castKindName(CastKind kind);

/// A place in a layout that can carry axes: factor `factor` of dim `dim`, or `flat`.
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
  std::optional<AxisPlace> from; ///< AllGather, AllToAll
  std::optional<AxisPlace> to;   ///< TakeShard, ReduceScatter, AllToAll
  ReduceKind reduce = ReduceKind::Sum; ///< ToPartial, ReduceScatter, AllReduce
  Layout result;                 ///< normalized
};

/// The cast that leads from `from` to `to` (both normalized) in one step, or nothing. `copy` beside another change is
/// two steps. Never Remap if a cheaper or equal cast does it.
std::optional<Cast> findCast(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh);

/// Elements received by the rank that receives most, when `cast` is applied to `from`. For AllReduce of n elements over k
/// ranks 2 (k-1)/k n, ReduceScatter and AllToAll (k-1)/k n_in, AllGather n_out - n_in, TakeShard and ToPartial 0, Remap
/// needed minus owned, Transfer n. Copy: n (over its own link).
double receivedElements(const Cast &cast, const Layout &from, const Shape &shape, const Mesh &mesh);

/// The cheapest chain of casts from `from` to `to`: a shortest path (Dijkstra) by received elements, then by number of
/// casts. Empty if they are equal. Nothing if no chain exists (a replicated value cannot become partial max of unknown
/// neutral, say). Collectives never lie under a chain that could avoid them.
std::optional<std::vector<Cast>> cheapestCasts(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh);

} // namespace ds

#endif // DS_LAYOUT_CAST_H
