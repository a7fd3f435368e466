// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How the native benchmarks take times: several tries, by threads or processes that begin together.

#ifndef DS_BENCHMARK_NATIVE_MEASURE_H
#define DS_BENCHMARK_NATIVE_MEASURE_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ds::benchmark {

/// Seconds of a clock that only goes forward.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A meeting point of threads, or of processes if it lies in shared memory. Spins, then yields.
struct Meeting {
  std::atomic<uint32_t> arrived{0}, round{0};
  void wait(uint32_t members);
};

/// Runs body(thread) on `threads` threads at once, each on a core of its own, `tries` times after a warm-up, and
/// returns the seconds of each try, from the first to begin to the last to end, the fastest first.
std::vector<double> timesOfThreads(int threads, int tries, const std::function<void(int)> &body);

/// Zeroed memory on huge pages where the system has them, present; it stays until the process ends.
float *takeMemory(size_t bytes);
/// The same, seen by processes that are forked later. The system decides the size of its pages.
char *takeSharedMemory(size_t bytes);

/// The cores that the process may use, as at the first call, before threads were bound.
const std::vector<int> &usableCores();
/// Binds the calling thread to the number-th (modulo their count) of these.
void bindToCore(int number);

} // namespace ds::benchmark

#endif // DS_BENCHMARK_NATIVE_MEASURE_H
