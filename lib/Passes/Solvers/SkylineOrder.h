// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Orders in which to pack buffers, from filling an arena bottom up.

#ifndef DS_LIB_PASSES_SOLVERS_SKYLINEORDER_H
#define DS_LIB_PASSES_SOLVERS_SKYLINEORDER_H

#include "ds/Passes/Solvers/ArenaPacking.h"

namespace ds {

/// Which of the buffers that fit is next; ties go to the earlier one.
enum class SkylineRule {
  LargestArea, ///< bytes times lifetime
  MostFlush,   ///< most ends of the lifetime where the part has its own, then the longest lifetime
};

/// The skyline is how high the arena is filled at each time. Its lowest part gets a buffer that is live in no other
/// part; where there is none, the part is raised to the lower one of its neighbours. `buffers` have times below
/// `times`. Returns their numbers in the order in which they were placed, or nothing if that takes more than `steps`
/// looks at buffers, times and parts; O(n^2) of them suffice for n buffers. Source: Sekiyama et al., "Profile-guided
/// memory optimization for deep neural networks", 2018.
std::optional<std::vector<uint32_t>> findSkylineOrder(const std::vector<ArenaBuffer> &buffers, uint32_t times,
                                                      SkylineRule rule, uint64_t steps);

} // namespace ds

#endif // DS_LIB_PASSES_SOLVERS_SKYLINEORDER_H
