// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Packs buffers with known lifetimes into one arena. Plain C++.

#ifndef DS_PASSES_SOLVERS_ARENAPACKING_H
#define DS_PASSES_SOLVERS_ARENAPACKING_H

#include "ds/Plan/Alignment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ds {

/// Where buffers may begin, in bytes; and of which the arena is a multiple, as it is taken in whole pages.
inline constexpr uint64_t kArenaAlignment = plan::kBufferAlignment, kArenaPageBytes = 4096;

/// A buffer that is live at all times in [first, last].
struct ArenaBuffer {
  uint64_t bytes = 0; ///< a multiple of the alignment
  uint32_t first = 0, last = 0;
};

/// Where each buffer lies, and how good the packing is.
struct ArenaPacking {
  std::vector<uint64_t> offsets; ///< bytes, one per buffer
  uint64_t bytes = 0;            ///< the arena's size
  uint64_t lowerBound = 0;       ///< the largest sum of live buffers at one time: no packing is smaller
  uint32_t peakTime = 0;         ///< a time of that sum
};

/// Best of a few orders of greedy best fit: by size, as a skyline is filled, by size times lifetime, by lifetime, by
/// start. Each buffer goes to the lowest smallest gap among the placed buffers that are live with it. As long as the
/// arena is more than half a percent above the bound and a number of steps is not used up, orders are tried again with
/// the buffer that reached farthest at their front. One order is O(n log^2 n) as long as what is taken at a time has
/// few gaps, O(n^2) in the worst case. The same buffers give the same packing. Sources: Lee et al., "On-Device Neural
/// Net Inference with Mobile GPUs", 2019 (greedy by size); Sekiyama et al., "Profile-guided memory optimization for
/// deep neural networks", 2018 (skyline).
ArenaPacking packArena(const std::vector<ArenaBuffer> &buffers);

/// Why `packing` is not a packing of `buffers`, or nothing. O(n log n).
std::optional<std::string> findPackingFault(const std::vector<ArenaBuffer> &buffers, const ArenaPacking &packing);

} // namespace ds

#endif // DS_PASSES_SOLVERS_ARENAPACKING_H
