// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The innermost parts of an f32 product, with AVX-512: a tile of C whose sums stay in registers, and copies into
/// the order in which tiles read.

#ifndef DS_RUNTIME_DEVICE_CPU_MATMULTILE_H
#define DS_RUNTIME_DEVICE_CPU_MATMULTILE_H

#include <cstdint>

namespace ds::runtime {

/// Floats of a vector, which is a line of the caches.
constexpr int64_t kLineFloats = 16;
/// 8 x 3 vectors: 24 sums, three vectors of B and one element of A fill the 32 registers but four. Of the tiles that
/// fit, it takes the fewest loads and instructions per multiply-add, which counts where a core is shared.
constexpr int64_t kTileRows = 8, kTileLines = 3, kTileColumns = kTileLines * kLineFloats;
/// A tile asks for a line of either kind each time it has added so many terms.
constexpr int64_t kTermsPerLine = 8;

/// Lines to ask for: `lines` of each row of a matrix.
struct Ahead {
  const float *from = nullptr;
  int64_t stride = 0, lines = 1;
};

/// C[rows, columns] (+)= alpha * sum over terms of A[kTileRows, terms] B[terms, columns] (+ bias).
struct Tile {
  int64_t rows = 0, columns = 0, terms = 0; ///< at most kTileRows and kTileColumns
  /// left[row * stride + term], or left[term * kTileRows + row] if `leftStride` is 0.
  const float *left = nullptr;
  int64_t leftStride = 0;
  const float *right = nullptr; ///< [terms, columns rounded up to lines], aligned
  float *out = nullptr;
  int64_t outStride = 0;
  float alpha = 1;
  const float *bias = nullptr; ///< [columns], or null
  bool adds = false;           ///< to what C holds
  Ahead leftAhead, rightAhead;
};

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Whether this machine can.
bool hasTiles();

void multiplyTile(const Tile &tile);

/// Up to 16 x 16 floats, as `lines` lines of `width` floats.
struct Square {
  const float *from = nullptr;
  int64_t stride = 0; ///< between lines
  int64_t lines = 0, width = 0;
};

/// to[j] = from[j], zeros behind `width` up to the end of the line.
void copyRow(const float *from, int64_t width, float *to);
/// to[j * toStride + i] = line i, place j; zeros behind `lines`.
void copyTransposed(const Square &square, float *to, int64_t toStride);
/// lower[i * kTileRows + j] = line i, place j, and upper[...] = line i, place kTileRows + j, both aligned; zeros behind
/// `width` and, up to an even number, behind `lines`. Stores past the caches (finishStreams); asks for
/// lines to the right.
void streamHalves(const Square &square, float *lower, float *upper);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_MATMULTILE_H
