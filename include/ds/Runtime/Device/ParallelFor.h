// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The one pool of threads of a process: GCC's OpenMP runtime, which oneDNN uses too. The pool belongs to the thread
/// that computes; other threads set their own number to 1 and never start one. A process that means to fork must do so
/// before the first call. With several ranks on a machine start them with OMP_WAIT_POLICY=passive.

#ifndef DS_RUNTIME_DEVICE_PARALLELFOR_H
#define DS_RUNTIME_DEVICE_PARALLELFOR_H

#include "absl/status/status.h"

#include <cstdint>
#include <vector>

namespace ds::runtime {

/// How many threads parallel loops, and oneDNN, use when called from this thread (itself included).
void setThreads(int count);
int getThreads();

/// Binds thread i of the calling thread's pool to cores[i % size]. Nothing to do if `cores` is empty.
absl::Status bindThreads(const std::vector<int> &cores);

/// Calls `body` once on each thread of the calling thread's pool.
void onEachThread(void (*body)());

using LoopBody = void (*)(void *context, int64_t index);
/// Calls body(context, i) for each i in [0, count), each once, in any order and on any thread of the pool. Returns
/// after all.
void parallelForRaw(int64_t count, LoopBody body, void *context);

/// The same for a callable `body(i)`.
template <typename Body> void parallelFor(int64_t count, const Body &body) {
  parallelForRaw(
      count, [](void *context, int64_t index) { (*static_cast<const Body *>(context))(index); },
      const_cast<void *>(static_cast<const void *>(&body)));
}

/// Cuts [0, count) into pieces of at least `grain` and calls body(begin, end) for each.
template <typename Body> void parallelRanges(int64_t count, int64_t grain, const Body &body) {
  if (count <= 0)
    return;
  const int64_t most = static_cast<int64_t>(getThreads()) * 4;
  const int64_t whole = count / (grain < 1 ? 1 : grain);
  const int64_t pieces = getThreads() == 1 || whole < 2 ? 1 : (whole < most ? whole : most);
  parallelFor(pieces, [&](int64_t piece) { body(count * piece / pieces, count * (piece + 1) / pieces); });
}

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_PARALLELFOR_H
