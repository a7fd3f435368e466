// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/FastCopy.h"

#include <algorithm>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ds::runtime {

#if defined(__x86_64__)
static constexpr int64_t kLine = 64;

// Each copies whole lines; with kStreams, `to` is at the begin of one.
template <bool kStreams>
__attribute__((target("avx512f"))) static void copyLinesAvx512(char *to, const char *from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLine) {
    const __m512i line = _mm512_loadu_si512(from + at);
    if (kStreams)
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to + at), line);
    else
      _mm512_storeu_si512(to + at, line);
  }
}

template <bool kStreams> static void copyLinesSse2(char *to, const char *from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at));
    if (kStreams)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + at), part);
    else
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to + at), part);
  }
}

template <bool kStreams> static void copyLines(char *to, const char *from, int64_t bytes) {
  static const bool isWide = __builtin_cpu_supports("avx512f");
  isWide ? copyLinesAvx512<kStreams>(to, from, bytes) : copyLinesSse2<kStreams>(to, from, bytes);
}

void copyBytes(char *to, const char *from, int64_t bytes) {
  const int64_t whole = bytes / kLine * kLine;
  copyLines<false>(to, from, whole);
  std::memcpy(to + whole, from + whole, bytes - whole);
}

void streamBytes(char *to, const char *from, int64_t bytes) {
  const int64_t lead = std::min<int64_t>(bytes, -reinterpret_cast<intptr_t>(to) & (kLine - 1));
  const int64_t whole = (bytes - lead) / kLine * kLine;
  std::memcpy(to, from, lead);
  copyLines<true>(to + lead, from + lead, whole);
  std::memcpy(to + lead + whole, from + lead + whole, bytes - lead - whole);
}

void finishStreams() { _mm_sfence(); }
#else
void copyBytes(char *to, const char *from, int64_t bytes) { std::memcpy(to, from, bytes); }
void streamBytes(char *to, const char *from, int64_t bytes) { std::memcpy(to, from, bytes); }
void finishStreams() {}
#endif

} // namespace ds::runtime
