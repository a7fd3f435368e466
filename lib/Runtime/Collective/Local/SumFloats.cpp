// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SumFloats.h"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ds::runtime {

static constexpr int64_t kLine = 16; // floats of a cache line

namespace {
using Sources = absl::Span<const char *const>;
using Targets = absl::Span<char *const>;
} // namespace

static const float *floatsOf(const char *data) { return reinterpret_cast<const float *>(data); }
static float *floatsOf(char *data) { return reinterpret_cast<float *>(data); }

static void sumOneByOne(Sources sources, Targets targets, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float sum = floatsOf(sources[0])[i];
    for (size_t k = 1; k < sources.size(); ++k)
      sum += floatsOf(sources[k])[i];
    for (char *target : targets)
      floatsOf(target)[i] = sum;
  }
}

#if defined(__x86_64__)
// Whole lines; with kStreams, those of the first target are at the begin of one. Loads and stores of a line are
// together, so that those of many lines are in flight at once.
template <bool kStreams>
__attribute__((target("avx512f"))) static void sumLines(Sources sources, Targets targets, int64_t begin, int64_t end) {
  const size_t numSources = sources.size(), numTargets = targets.size();
  const char *const *source = sources.data();
  char *const *target = targets.data();
  for (int64_t i = begin; i < end; i += kLine) {
    __m512 sum = _mm512_loadu_ps(floatsOf(source[0]) + i);
    for (size_t k = 1; k < numSources; ++k)
      sum = _mm512_add_ps(sum, _mm512_loadu_ps(floatsOf(source[k]) + i));
    if (kStreams)
      _mm512_stream_ps(floatsOf(target[0]) + i, sum);
    else
      _mm512_storeu_ps(floatsOf(target[0]) + i, sum);
    for (size_t k = 1; k < numTargets; ++k)
      _mm512_storeu_ps(floatsOf(target[k]) + i, sum);
  }
}

static bool hasWideVectors() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}
#else
template <bool kStreams> static void sumLines(Sources sources, Targets targets, int64_t begin, int64_t end) {
  sumOneByOne(sources, targets, begin, end);
}
static bool hasWideVectors() { return false; }
#endif

void sumFloats(Sources sources, Targets targets, int64_t count, bool isStreamed) {
  if (!hasWideVectors())
    return sumOneByOne(sources, targets, 0, count);
  const int64_t misplaced = reinterpret_cast<intptr_t>(targets[0]) / sizeof(float) % kLine;
  const int64_t lead = isStreamed ? std::min(count, (kLine - misplaced) % kLine) : 0;
  const int64_t end = lead + (count - lead) / kLine * kLine;
  sumOneByOne(sources, targets, 0, lead);
  isStreamed ? sumLines<true>(sources, targets, lead, end) : sumLines<false>(sources, targets, lead, end);
  sumOneByOne(sources, targets, end, count);
}

} // namespace ds::runtime
