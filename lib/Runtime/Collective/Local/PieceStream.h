// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Pieces of several tensors seen as one run of bytes.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_PIECESTREAM_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_PIECESTREAM_H

#include "ds/Runtime/Device/FastCopy.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ds::runtime {

/// `rows` runs of `runBytes` bytes, `strideBytes` apart.
struct StridedPiece {
  char *data = nullptr;
  int64_t rows = 0, runBytes = 0, strideBytes = 0;
};

/// The bytes of a list of strided pieces, in order, taken chunk by chunk.
class PieceStream {
public:
  /// Adds a piece at the end; empty ones are dropped.
  void add(StridedPiece piece);
  /// Bytes from the beginning to the end.
  int64_t bytes() const { return total; }
  /// Bytes not taken yet.
  int64_t left() const { return total - taken; }
  /// Begins anew.
  void rewind() { piece = 0, taken = row = within = 0; }
  /// Bytes left of the run in which the next byte is; none are left at the end.
  int64_t runLeft() const { return piece == pieces.size() ? 0 : pieces[piece].runBytes - within; }
  /// Where the next `count` bytes are if they are one run, else null.
  char *nextRun(int64_t count) const;

  /// Calls visit(run, bytes) for the next `count` bytes, in order.
  template <typename Visit> void take(int64_t count, Visit visit);
  /// Passes over the next `count` bytes.
  void skip(int64_t count) {
    take(count, [](char *, int64_t) {});
  }
  /// Copies the next `count` bytes to `target`.
  void gather(int64_t count, char *target);
  /// Overwrites the next `count` bytes from `source`.
  void scatter(int64_t count, const char *source);

private:
  std::vector<StridedPiece> pieces;
  int64_t total = 0, taken = 0;
  size_t piece = 0; ///< where the next byte is
  int64_t row = 0, within = 0;
};

template <typename Visit> void PieceStream::take(int64_t count, Visit visit) {
  taken += count;
  while (count > 0) {
    const StridedPiece &at = pieces[piece];
    const int64_t now = std::min(count, at.runBytes - within);
    visit(at.data + row * at.strideBytes + within, now);
    count -= now;
    within += now;
    if (within < at.runBytes)
      continue;
    within = 0;
    if (++row < at.rows)
      continue;
    row = 0;
    ++piece;
  }
}

inline void PieceStream::add(StridedPiece next) {
  if (next.rows == 0 || next.runBytes == 0)
    return;
  if (next.runBytes == next.strideBytes) { // dense: one run
    next.runBytes *= next.rows;
    next.rows = 1;
  }
  total += next.rows * next.runBytes;
  pieces.push_back(next);
}

inline char *PieceStream::nextRun(int64_t count) const {
  if (count == 0 || count > runLeft())
    return nullptr;
  return pieces[piece].data + row * pieces[piece].strideBytes + within;
}

inline void PieceStream::gather(int64_t count, char *target) {
  take(count, [&](const char *run, int64_t bytes) {
    copyBytes(target, run, bytes);
    target += bytes;
  });
}

inline void PieceStream::scatter(int64_t count, const char *source) {
  take(count, [&](char *run, int64_t bytes) {
    copyBytes(run, source, bytes);
    source += bytes;
  });
}

/// Calls visit(source, target, bytes) for the next `count` bytes of two streams, run by run.
template <typename Visit> void takePairs(PieceStream &from, PieceStream &to, int64_t count, Visit visit) {
  while (count > 0) {
    const int64_t now = std::min({count, from.runLeft(), to.runLeft()});
    from.take(now, [&](char *source, int64_t) {
      to.take(now, [&](char *target, int64_t bytes) { visit(source, target, bytes); });
    });
    count -= now;
  }
}

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_PIECESTREAM_H
