// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The widest vectors of the machine that this is compiled for, as the loops of the limits need them.

#ifndef DS_BENCHMARK_NATIVE_SIMD_H
#define DS_BENCHMARK_NATIVE_SIMD_H

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ds::benchmark {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kAccumulators = 24; ///< that fit into registers beside two operands, and hide the latency
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kAccumulators = 12;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kAccumulators = 12;
#endif
inline constexpr int64_t kLanes = kVectorBytes / 4;

typedef float Vector __attribute__((vector_size(kVectorBytes)));

inline Vector loadVector(const float *from) { return *reinterpret_cast<const Vector *>(from); }
inline void storeVector(float *to, Vector value) { *reinterpret_cast<Vector *>(to) = value; }

/// Stores past the caches, where the machine can.
inline void streamVector(float *to, Vector value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, value);
#elif defined(__AVX__)
  _mm256_stream_ps(to, value);
#else
  storeVector(to, value);
#endif
}

/// Orders streamed stores before what follows.
inline void fenceStreams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

inline Vector squareRoot(Vector value) {
#if defined(__AVX512F__)
  return _mm512_sqrt_ps(value);
#elif defined(__AVX__)
  return _mm256_sqrt_ps(value);
#else
  for (int64_t lane = 0; lane < kLanes; ++lane)
    value[lane] = __builtin_sqrtf(value[lane]);
  return value;
#endif
}

} // namespace ds::benchmark

#endif // DS_BENCHMARK_NATIVE_SIMD_H
