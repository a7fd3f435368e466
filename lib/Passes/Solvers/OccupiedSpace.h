// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which bytes of an arena are taken at some time of a range.

#ifndef DS_LIB_PASSES_SOLVERS_OCCUPIEDSPACE_H
#define DS_LIB_PASSES_SOLVERS_OCCUPIEDSPACE_H

#include <cstdint>
#include <vector>

namespace ds {

/// The bytes [begin, end).
struct ByteRange {
  uint64_t begin = 0, end = 0;
};

/// Byte ranges, sorted; neither overlapping nor touching.
class ByteSet {
public:
  void add(ByteRange range);
  void clear() { all.clear(); }
  const std::vector<ByteRange> &ranges() const { return all; }

private:
  std::vector<ByteRange> all;
};

/// A segment tree over time: each node stands for a range of times, and a query asks O(log times) nodes. Buffers that
/// are live together are packed tightly, so the sets of the nodes have few ranges, however many buffers there are.
class OccupiedSpace {
public:
  /// Of times in [0, times).
  explicit OccupiedSpace(uint32_t times);

  void clear();
  /// Takes `range` at all times in [first, last].
  void add(ByteRange range, uint32_t first, uint32_t last);
  /// The lowest of the smallest gaps of at least `bytes` that are free at all times in [first, last]; else the end of
  /// all that is taken.
  uint64_t findGap(uint64_t bytes, uint32_t first, uint32_t last);

private:
  const std::vector<ByteRange> &takenDuring(uint32_t first, uint32_t last);

  uint32_t leaves = 1; ///< a power of two; node i has children 2 * i and 2 * i + 1, leaf t is leaves + t
  // Bytes that `always` of an ancestor already lists need not be listed again.
  std::vector<ByteSet> always;  ///< per node: bytes that are taken at every time of the node
  std::vector<ByteSet> anytime; ///< per node: bytes that are taken at one time of the node at least

  // Of takenDuring, kept for their memory.
  std::vector<const std::vector<ByteRange> *> sets;
  std::vector<ByteRange> taken, united;
};

} // namespace ds

#endif // DS_LIB_PASSES_SOLVERS_OCCUPIEDSPACE_H
