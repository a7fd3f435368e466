// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What this machine can do at most, as one JSON object on stdout. Every other figure of the benchmarks is stated as a
/// fraction of one of these. ds-bench-limits copy_8, copy_128 or adamw_parameters prints that figure alone, the median
/// of its tries, to stand beside medians that are taken in turn with it.

#include "Measure.h"
#include "Simd.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

using namespace ds::benchmark;

static constexpr int64_t kMebibyte = int64_t(1) << 20;
static constexpr int kThreads = 2;

/// Whether a figure is one of several that are taken in turn with others: then the median of a few tries counts, and
/// else the fastest of all.
static bool isInTurn = false;

static double secondsOf(int threads, const std::function<void(int)> &body) {
  const int tries = isInTurn ? 3 : 7;
  return timesOfThreads(threads, tries, body)[isInTurn ? tries / 2 : 0];
}

/// Keeps a value, so that the loop which made it stays.
static void keep(Vector &value) { asm volatile("" : "+m"(value)::"memory"); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static constexpr int64_t kFmaRounds = 4000000;

/// sum = sum * factor + term, as one instruction that the compiler neither drops nor reorders.
static void multiplyAdd(Vector &sum, Vector factor, Vector term) {
#if defined(__AVX512F__)
  asm volatile("vfmadd213ps %2, %1, %0" : "+v"(sum) : "v"(factor), "v"(term));
#else
  sum = sum * factor + term;
#endif
}

/// The indices are constants, so that the accumulators stay in registers.
template <size_t... index> static void multiplyAddRounds(std::index_sequence<index...>) {
  Vector sums[sizeof...(index)] = {};
  Vector factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
  keep(factor), keep(term);
  const Vector by = factor, plus = term;
  for (int64_t round = 0; round < kFmaRounds; ++round)
    (multiplyAdd(sums[index], by, plus), ...);
  Vector total = (sums[index] + ...);
  keep(total);
}

static double fmaPeak(int threads) {
  const double seconds = secondsOf(threads, [](int) { multiplyAddRounds(std::make_index_sequence<kAccumulators>()); });
  return 2.0 * threads * kFmaRounds * kAccumulators * kLanes / seconds;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Passes over `bytes` that make one try last about 20 ms at 50 GB/s.
static int passesOver(int64_t bytes) { return static_cast<int>(std::max<int64_t>(1, (int64_t(1) << 30) / bytes)); }

/// The share of a thread of `count` elements.
static float *share(float *data, int64_t count, int thread) { return data + count / kThreads * thread; }

template <bool streamed> static void copyElements(float *to, const float *from, int64_t count) {
  for (int64_t i = 0; i < count; i += 4 * kLanes)
    for (int64_t j = i; j < i + 4 * kLanes; j += kLanes)
      streamed ? streamVector(to + j, loadVector(from + j)) : storeVector(to + j, loadVector(from + j));
  fenceStreams();
}

/// Bytes read and written per second where two threads copy a tensor of `bytes`.
template <bool streamed> static double copyRate(int64_t bytes) {
  static float *from = takeMemory(128 * kMebibyte), *to = takeMemory(128 * kMebibyte);
  const int64_t count = bytes / 4;
  const int passes = passesOver(bytes);
  const double seconds = secondsOf(kThreads, [&](int thread) {
    for (int pass = 0; pass < passes; ++pass)
      copyElements<streamed>(share(to, count, thread), share(from, count, thread), count / kThreads);
  });
  return 2.0 * bytes * passes / seconds;
}

static double readRate(int64_t bytes) {
  static float *from = takeMemory(128 * kMebibyte);
  const int64_t count = bytes / 4;
  const int passes = passesOver(bytes);
  const double seconds = secondsOf(kThreads, [&](int thread) {
    Vector sums[8] = {};
    for (int pass = 0; pass < passes; ++pass) {
      const float *mine = share(from, count, thread);
      for (int64_t i = 0; i < count / kThreads; i += 8 * kLanes)
        for (int64_t j = 0; j < 8; ++j)
          sums[j] += loadVector(mine + i + j * kLanes);
    }
    for (Vector &sum : sums)
      keep(sum);
  });
  return 1.0 * bytes * passes / seconds;
}

//===----------------------------------------------------------------------===//
// AdamW
//===----------------------------------------------------------------------===//

namespace {
struct AdamState {
  float *parameter, *gradient, *mean, *square;
};
} // namespace

/// One update of `count` elements from `begin`: reads 16 bytes and writes 12 per element.
static void updateElements(const AdamState &at, int64_t begin, int64_t count) {
  constexpr float kRate = 1e-3f, kBeta1 = 0.9f, kBeta2 = 0.95f, kDecay = 0.1f, kEpsilon = 1e-8f;
  constexpr float kCorrection1 = 1 / (1 - kBeta1), kCorrection2 = 1 / (1 - kBeta2);
  for (int64_t i = begin; i < begin + count; i += kLanes) {
    const Vector gradient = loadVector(at.gradient + i);
    const Vector mean = loadVector(at.mean + i) * kBeta1 + gradient * (1 - kBeta1);
    const Vector square = loadVector(at.square + i) * kBeta2 + gradient * gradient * (1 - kBeta2);
    const Vector divisor = squareRoot(square * kCorrection2) + kEpsilon;
    const Vector step = mean * kCorrection1 / divisor;
    storeVector(at.mean + i, mean);
    storeVector(at.square + i, square);
    storeVector(at.parameter + i, loadVector(at.parameter + i) * (1 - kRate * kDecay) - step * kRate);
  }
  fenceStreams();
}

/// Parameters updated per second, of `bytes` bytes of parameters.
static double adamRate(int64_t bytes) {
  const AdamState state{takeMemory(bytes), takeMemory(bytes), takeMemory(bytes), takeMemory(bytes)};
  const int64_t count = bytes / 4;
  const double seconds =
      secondsOf(kThreads, [&](int thread) { updateElements(state, count / kThreads * thread, count / kThreads); });
  return count / seconds;
}

static void printAll() {
  std::printf("{\"fma_flops_1\": %.4e, \"fma_flops_2\": %.4e,\n", fmaPeak(1), fmaPeak(kThreads));
  for (const int64_t size : {8, 128})
    std::printf(" \"copy_%d_streamed\": %.4e, \"copy_%d_plain\": %.4e, \"read_%d\": %.4e,\n", int(size),
                copyRate<true>(size * kMebibyte), int(size), copyRate<false>(size * kMebibyte), int(size),
                readRate(size * kMebibyte));
  std::printf(" \"adamw_parameters\": %.4e}\n", adamRate(128 * kMebibyte));
}

/// The better of both kinds of stores.
static double fastestCopy(int64_t mebibytes) {
  return std::max(copyRate<true>(mebibytes * kMebibyte), copyRate<false>(mebibytes * kMebibyte));
}

int main(int argc, char **argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  isInTurn = argc == 2;
  if (argc == 1) {
    printAll();
  } else if (name == "copy_8" || name == "copy_128") {
    std::printf("%.4e\n", fastestCopy(name == "copy_8" ? 8 : 128));
  } else if (name == "adamw_parameters") {
    std::printf("%.4e\n", adamRate(128 * kMebibyte));
  } else {
    std::fprintf(stderr, "usage: ds-bench-limits [copy_8|copy_128|adamw_parameters]\n");
    return 2;
  }
}
