// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "MatmulTile.h"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace ds;
using namespace ds::runtime;

#if defined(__x86_64__)
#define DS_AVX512 __attribute__((target("avx512f")))
#define DS_AVX512_INLINE __attribute__((target("avx512f"), always_inline)) inline

static __mmask16 firstLanes(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

namespace {
/// A tile of kLines lines per row on its way through the terms.
template <bool kPacked, int kLines> class TileLoop {
public:
  DS_AVX512_INLINE explicit TileLoop(const Tile &tile)
      : left(tile.left), lowerLeft(tile.left + 4 * tile.leftStride), right(tile.right), leftStride(tile.leftStride),
        tripleStride(3 * tile.leftStride), leftAhead(tile.leftAhead), rightAhead(tile.rightAhead) {
#pragma unroll
    for (int row = 0; row < kTileRows; ++row)
#pragma unroll
      for (int line = 0; line < kLines; ++line)
        sums[row][line] = _mm512_setzero_ps();
  }

  DS_AVX512_INLINE void add(int64_t terms) {
    int64_t term = 0;
#pragma clang loop unroll(disable)
    for (; term + kTermsPerLine <= terms; term += kTermsPerLine) {
      prefetchNext(leftAhead, leftLine);
      prefetchNext(rightAhead, rightLine);
#pragma unroll
      for (int64_t i = 0; i < kTermsPerLine; ++i)
        addTerm(i);
      advance(kTermsPerLine);
    }
#pragma clang loop unroll(disable)
    for (; term < terms; ++term) {
      addTerm(0);
      advance(1);
    }
  }

  DS_AVX512_INLINE void store(const Tile &tile) const {
#pragma unroll
    for (int row = 0; row < kTileRows; ++row)
      if (row < tile.rows)
        storeRow(tile, tile.out + row * tile.outStride, sums[row]);
  }

private:
  static constexpr int64_t kTermsAhead = 8; ///< of B, which comes from the second cache

  DS_AVX512_INLINE const float *leftAt(int64_t term, int64_t row) const {
    if (kPacked)
      return left + term * kTileRows + row;
    // Two registers with addresses and two with strides reach all rows.
    return (row < 4 ? left : lowerLeft) + (row % 4 == 3 ? tripleStride : row % 4 * leftStride) + term;
  }

  /// Keeps what follows behind `sum`: scheduled freely, loads of later rows and terms push sums out of the registers.
  static DS_AVX512_INLINE void keepOrder(__m512 &sum) { asm volatile("" : "+v"(sum)::"memory"); }

  /// Adds the products of the term `term` further on.
  DS_AVX512_INLINE void addTerm(int64_t term) {
    __m512 values[kLines];
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
      values[line] = _mm512_load_ps(right + (term * kLines + line) * kLineFloats);
      _mm_prefetch(right + ((term + kTermsAhead) * kLines + line) * kLineFloats, _MM_HINT_T0);
    }
#pragma unroll
    for (int row = 0; row < kTileRows; ++row) {
      const __m512 element = _mm512_set1_ps(*leftAt(term, row));
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        sums[row][line] = _mm512_fmadd_ps(element, values[line], sums[row][line]);
        keepOrder(sums[row][line]);
      }
    }
  }

  DS_AVX512_INLINE void advance(int64_t terms) {
    left += terms * (kPacked ? kTileRows : 1);
    lowerLeft += terms;
    right += terms * kLines * kLineFloats;
  }

  /// Asks for a line of the second cache.
  static DS_AVX512_INLINE void prefetchNext(Ahead &ahead, int64_t &line) {
    _mm_prefetch(ahead.from + line * kLineFloats, _MM_HINT_T1);
    const bool isLast = ++line == ahead.lines;
    ahead.from += isLast ? ahead.stride : 0;
    line = isLast ? 0 : line;
  }

  static DS_AVX512_INLINE void storeRow(const Tile &tile, float *to, const __m512 (&row)[kLines]) {
    const __m512 alpha = _mm512_set1_ps(tile.alpha);
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
      const int64_t column = line * kLineFloats;
      const __mmask16 lanes = line + 1 < kLines ? 0xffff : firstLanes(tile.columns - column);
      __m512 value = _mm512_mul_ps(alpha, row[line]);
      if (tile.adds)
        value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(lanes, to + column));
      if (tile.bias)
        value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(lanes, tile.bias + column));
      _mm512_mask_storeu_ps(to + column, lanes, value);
    }
  }

  const float *left, *lowerLeft, *right;
  const int64_t leftStride, tripleStride;
  Ahead leftAhead, rightAhead;
  int64_t leftLine = 0, rightLine = 0;
  __m512 sums[kTileRows][kLines];
};
} // namespace

template <bool kPacked, int kLines> DS_AVX512 static void multiply(const Tile &tile) {
  TileLoop<kPacked, kLines> loop(tile);
  loop.add(tile.terms);
  loop.store(tile);
}

template <int kLines> static void multiplyLines(const Tile &tile) {
  tile.leftStride == 0 ? multiply<true, kLines>(tile) : multiply<false, kLines>(tile);
}

/// Asks for the lines of C, to be written.
static void prefetchOut(const Tile &tile) {
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; column += kLineFloats)
      __builtin_prefetch(tile.out + row * tile.outStride + column, 1);
}

bool ds::runtime::hasTiles() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}

void ds::runtime::multiplyTile(const Tile &tile) {
  static_assert(kTileLines == 3, "one case for each number of lines");
  prefetchOut(tile);
  if (tile.columns <= kLineFloats)
    multiplyLines<1>(tile);
  else if (tile.columns <= 2 * kLineFloats)
    multiplyLines<2>(tile);
  else
    multiplyLines<3>(tile);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

DS_AVX512_INLINE static __m512 interleave(__m512 x, __m512 y, bool isUpper) {
  return isUpper ? _mm512_unpackhi_ps(x, y) : _mm512_unpacklo_ps(x, y);
}

DS_AVX512_INLINE static __m512 interleavePairs(__m512 x, __m512 y, bool isUpper) {
  const __m512d a = _mm512_castps_pd(x), b = _mm512_castps_pd(y);
  return _mm512_castpd_ps(isUpper ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b));
}

/// The even or the odd quarters of both.
DS_AVX512_INLINE static __m512 takeQuarters(__m512 x, __m512 y, bool isOdd) {
  return isOdd ? _mm512_shuffle_f32x4(x, y, 0xdd) : _mm512_shuffle_f32x4(x, y, 0x88);
}

/// Within quarters by pairs of rows, then of pairs; then quarters.
DS_AVX512_INLINE static void transpose(__m512 (&rows)[16]) {
  __m512 other[16];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    other[i] = interleave(rows[i & ~1], rows[i | 1], i & 1);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    rows[i] = interleavePairs(other[(i & ~3) | (i >> 1 & 1)], other[(i & ~3) | (i >> 1 & 1) | 2], i & 1);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    other[i] = takeQuarters(rows[i & ~4], rows[i | 4], i >> 2 & 1);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    rows[i] = takeQuarters(other[i & ~8], other[i | 8], i >> 3 & 1);
}

DS_AVX512 void ds::runtime::copyRow(const float *from, int64_t width, float *to) {
  for (int64_t i = 0; i < width; i += kLineFloats)
    _mm512_store_ps(to + i, _mm512_maskz_loadu_ps(firstLanes(std::min(kLineFloats, width - i)), from + i));
}

DS_AVX512 void ds::runtime::streamHalves(const Square &square, float *lower, float *upper) {
  constexpr int64_t kLinesAhead = 3;
  const __mmask16 lanes = firstLanes(square.width);
  for (int64_t i = 0; i < square.lines; i += 2) {
    __m512 lines[2] = {};
    for (int64_t line = 0; line < std::min<int64_t>(2, square.lines - i); ++line) {
      const float *from = square.from + (i + line) * square.stride;
      _mm_prefetch(from + kLinesAhead * kLineFloats, _MM_HINT_T1);
      lines[line] = _mm512_maskz_loadu_ps(lanes, from);
    }
    _mm512_stream_ps(lower + i * kTileRows, _mm512_shuffle_f32x4(lines[0], lines[1], 0x44));
    _mm512_stream_ps(upper + i * kTileRows, _mm512_shuffle_f32x4(lines[0], lines[1], 0xee));
  }
}

DS_AVX512 void ds::runtime::copyTransposed(const Square &square, float *to, int64_t toStride) {
  const __mmask16 lanes = firstLanes(square.width);
  __m512 rows[16];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    rows[i] = i < square.lines ? _mm512_maskz_loadu_ps(lanes, square.from + i * square.stride) : _mm512_setzero_ps();
  transpose(rows);
#pragma unroll
  for (int i = 0; i < 16; ++i)
    if (i < square.width)
      _mm512_store_ps(to + i * toStride, rows[i]);
}
#else
bool ds::runtime::hasTiles() { return false; }
void ds::runtime::multiplyTile(const Tile &) {}
void ds::runtime::copyRow(const float *, int64_t, float *) {}
void ds::runtime::copyTransposed(const Square &, float *, int64_t) {}
void ds::runtime::streamHalves(const Square &, float *, float *) {}
#endif
