// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Collectives as loops over memory that all ranks share, between two barriers: what no implementation whose ranks have
/// memory of their own can beat by much. They sum in ascending rank order, as ours do.

#ifndef DS_BENCHMARK_NATIVE_SHAREDLOOPS_H
#define DS_BENCHMARK_NATIVE_SHAREDLOOPS_H

#include "Measure.h"

#include "ds/Plan/Plan.h"

#include <vector>

namespace ds::benchmark {

/// The buffers of all ranks, in shared memory, and a collective over `count` elements: of the whole tensor, which an
/// all-to-all has on every rank; a multiple of ranks * 64 bytes.
struct SharedTensors {
  std::vector<float *> inputs, outputs; ///< by rank
  Meeting *meeting;
  int64_t count;
  int rank;

  int ranks() const { return static_cast<int>(inputs.size()); }
};

/// Runs one collective; all ranks call it. With `streamed`, outputs are stored past the caches. An all-reduce works in
/// place on the inputs.
void runSharedLoop(const SharedTensors &tensors, plan::CollectiveKind kind, bool streamed);

} // namespace ds::benchmark

#endif // DS_BENCHMARK_NATIVE_SHAREDLOOPS_H
