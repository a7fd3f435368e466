// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// N virtual ranks that hold a tensor in a layout, and casts on them as plain movements of elements.

#ifndef DS_TEST_UNIT_LAYOUT_SIMULATION_H
#define DS_TEST_UNIT_LAYOUT_SIMULATION_H

#include "Reference.h"

#include <random>

namespace ds::test {

/// One tensor on all ranks. Each rank has a buffer of the static maximal size, filled with NaN where the layout says
/// that nothing is.
class DistributedTensor {
public:
  /// Lays `value` (row-major) out. Partials are split at random, equally on all replicas.
  DistributedTensor(std::vector<double> value, Layout layout, Shape shape, const Mesh &mesh, std::mt19937 &random);

  /// Applies `cast`; returns the elements that the rank which received most has received (reductions: one copy of each
  /// element from each other rank of the group). Any read of an element that a rank does not hold becomes NaN.
  int64_t apply(const Cast &cast);

  /// Why the buffers do not represent the value (an element off, replicas that differ, a poisoned element read,
  /// a write outside the extent), or an empty string.
  std::string findFault() const;

  const Layout &layout() const { return currentLayout; }

private:
  using Buffers = std::vector<std::vector<double>>;

  void setLayout(Layout layout);
  double read(int64_t rank, int64_t index) const;
  double resultOf(const Cast &cast, int64_t rank, int64_t index, int64_t &received) const;
  double readFrom(const std::vector<int64_t> &ranks, int64_t rank, int64_t index, int64_t &received) const;
  std::vector<int64_t> ranksLike(int64_t rank, const Layout &layout) const;
  std::vector<int64_t> partialCoordinates(int64_t rank) const;

  std::vector<double> value;
  Shape shape;
  Mesh mesh;
  Layout currentLayout;
  std::vector<std::vector<int64_t>> indices; ///< [rank]: what it holds, in the order of its buffer
  Buffers buffers;                           ///< [rank][element]
};

} // namespace ds::test

#endif // DS_TEST_UNIT_LAYOUT_SIMULATION_H
