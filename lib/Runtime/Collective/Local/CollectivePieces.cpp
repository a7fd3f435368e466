// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CollectivePieces.h"

#include "ds/Plan/Extents.h"

#include <algorithm>

namespace ds::runtime {

static int64_t widthOf(const CollectiveCall &call) { return static_cast<int64_t>(plan::sizeOf(call.type)); }

/// The rows of `member` in a segment that holds those of all members.
static StridedPiece rowsOfWhole(const MemberPair &pair, const CollectiveSegment &segment, int64_t member, char *base) {
  const Interval rows = split({0, segment.whole}, pair.cut, member);
  const int64_t row = segment.inner * widthOf(pair.call);
  return {base + rows.begin * row, segment.outer, rows.length() * row, segment.whole * row};
}

/// The rows of `member` by themselves.
static StridedPiece rowsAlone(const MemberPair &pair, const CollectiveSegment &segment, int64_t member, char *base) {
  const int64_t run = split({0, segment.whole}, pair.cut, member).length() * segment.inner * widthOf(pair.call);
  return {base, segment.outer, run, run};
}

// One side of an all-to-all's block is gathered (x), the other scattered (y); on both sides of a pair the bytes run
// over (outer, x, middle, y, inner), or with scatterFirst over (outer, y, middle, x, inner).
static StridedPiece sentCrosswise(const MemberPair &pair, const CollectiveSegment &segment, char *base) {
  const int64_t ownRows = split({0, segment.whole}, pair.cut, pair.from).length();
  const Interval y = split({0, segment.scatterWhole}, pair.cut, pair.to);
  const int64_t cell = segment.inner * widthOf(pair.call);
  if (!segment.scatterFirst)
    return {base + y.begin * cell, segment.outer * ownRows * segment.middle, y.length() * cell,
            segment.scatterWhole * cell};
  const int64_t unit = segment.middle * ownRows * cell; // bytes of one y in the input
  return {base + y.begin * unit, segment.outer, y.length() * unit, segment.scatterWhole * unit};
}

static StridedPiece receivedCrosswise(const MemberPair &pair, const CollectiveSegment &segment, char *base) {
  const Interval x = split({0, segment.whole}, pair.cut, pair.from);
  const int64_t ownColumns = split({0, segment.scatterWhole}, pair.cut, pair.to).length();
  const int64_t cell = segment.inner * widthOf(pair.call);
  if (segment.scatterFirst)
    return {base + x.begin * cell, segment.outer * ownColumns * segment.middle, x.length() * cell,
            segment.whole * cell};
  const int64_t unit = segment.middle * ownColumns * cell; // bytes of one x in the output
  return {base + x.begin * unit, segment.outer, x.length() * unit, segment.whole * unit};
}

StridedPiece sentPiece(const MemberPair &pair, const CollectiveSegment &segment, char *base) {
  if (pair.call.kind == plan::CollectiveKind::AllToAll)
    return sentCrosswise(pair, segment, base);
  return pair.call.kind == plan::CollectiveKind::AllGather ? rowsAlone(pair, segment, pair.from, base)
                                                           : rowsOfWhole(pair, segment, pair.to, base);
}

StridedPiece receivedPiece(const MemberPair &pair, const CollectiveSegment &segment, char *base) {
  if (pair.call.kind == plan::CollectiveKind::AllToAll)
    return receivedCrosswise(pair, segment, base);
  return pair.call.kind == plan::CollectiveKind::AllGather ? rowsOfWhole(pair, segment, pair.from, base)
                                                           : rowsAlone(pair, segment, pair.to, base);
}

static int64_t runsOf(const StridedPiece &piece) { return piece.runBytes == piece.strideBytes ? 1 : piece.rows; }

PairTraffic largestTraffic(const CollectiveCall &call, const MeshAxis &cut) {
  char anywhere; // only sizes are looked at
  PairTraffic largest;
  for (int64_t from = 0; from < cut.size; ++from)
    for (int64_t to = 0; to < cut.size; ++to) {
      const MemberPair pair{call, cut, from, to};
      PairTraffic traffic;
      for (const CollectiveSegment &segment : call.segments) {
        const StridedPiece sent = sentPiece(pair, segment, &anywhere);
        traffic.bytes += sent.rows * sent.runBytes;
        traffic.runs += std::max(runsOf(sent), runsOf(receivedPiece(pair, segment, &anywhere)));
      }
      largest = {std::max(largest.bytes, traffic.bytes), std::max(largest.runs, traffic.runs)};
    }
  return largest;
}

int64_t outputBytes(const CollectiveCall &call, const MeshAxis &cut, int64_t member) {
  char anywhere; // only sizes are looked at
  int64_t bytes = 0;
  for (const CollectiveSegment &segment : call.segments) {
    if (call.kind == plan::CollectiveKind::AllReduce)
      bytes += wholePiece(call, segment, &anywhere).runBytes;
    for (int64_t from = 0; from < cut.size && call.kind != plan::CollectiveKind::AllReduce; ++from) {
      const StridedPiece piece = receivedPiece({call, cut, from, member}, segment, &anywhere);
      bytes += call.kind == plan::CollectiveKind::ReduceScatter && from != member ? 0 : piece.rows * piece.runBytes;
    }
  }
  return bytes;
}

StridedPiece wholePiece(const CollectiveCall &call, const CollectiveSegment &segment, char *base) {
  const int64_t bytes = segment.outer * segment.whole * segment.middle * segment.inner * widthOf(call);
  return {base, 1, bytes, bytes};
}

Interval partOfRange(int64_t bytes, int64_t members, int64_t member) {
  constexpr int64_t kLine = 64;
  const int64_t lines = (bytes + kLine - 1) / kLine;
  const int64_t each = (lines + members - 1) / members * kLine;
  return {std::min(bytes, member * each), std::min(bytes, (member + 1) * each)};
}

} // namespace ds::runtime
