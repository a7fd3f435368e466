// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The elements that a rank owns, as a set that can be intersected without listing elements.

#ifndef DS_LIB_LAYOUT_OWNEDSET_H
#define DS_LIB_LAYOUT_OWNEDSET_H

#include "ds/Layout/Layout.h"

#include <memory>

namespace ds {

/// What one rank owns of a tensor: disjoint boxes, each the product of one set of positions per dim. A block is one
/// box, a flat piece of a tensor of rank R at most 2R - 1. Which ranks are in `at` is not looked at.
class OwnedSet {
public:
  OwnedSet(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank);

  /// The number of elements that are in both sets.
  int64_t commonElements(const OwnedSet &other) const;

private:
  using Runs = std::vector<Interval>; ///< positions of one dim, ascending and disjoint
  using Box = std::vector<Runs>;      ///< one per dim

  static int64_t commonElements(const Box &a, const Box &b);

  std::vector<Box> boxes;
};

/// What all ranks own of a tensor in one layout, which must outlive this.
class Holdings {
public:
  Holdings(const Layout &layout, const Shape &shape, const Mesh &mesh);

  int64_t elements(int64_t rank) const { return counts[rank]; }
  /// The elements that `rank` needs and does not own in `before`.
  int64_t missingElements(const Holdings &before, int64_t rank) const;

private:
  const OwnedSet &setOf(int64_t rank) const;

  const Layout &layout;
  const Shape &shape;
  const Mesh &mesh;
  std::vector<int64_t> counts;                         ///< [rank]
  mutable std::vector<std::unique_ptr<OwnedSet>> sets; ///< [rank], made when asked for
};

} // namespace ds

#endif // DS_LIB_LAYOUT_OWNEDSET_H
