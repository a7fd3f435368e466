// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which bytes of a collective go from one member of a group to another.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_COLLECTIVEPIECES_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_COLLECTIVEPIECES_H

#include "PieceStream.h"

#include "ds/Layout/Layout.h"
#include "ds/Runtime/Collective.h"

namespace ds::runtime {

/// Bytes on their way: of all segments of `call`, what member `from` sends to member `to`. Not for AllReduce, where
/// every member sends and receives everything.
struct MemberPair {
  const CollectiveCall &call;
  const MeshAxis &cut;
  int64_t from, to;
};

/// Where the bytes lie in the sender's input of `segment`, which begins at `base`.
StridedPiece sentPiece(const MemberPair &pair, const CollectiveSegment &segment, char *base);
/// Where they belong in the receiver's output of `segment`, which begins at `base`.
StridedPiece receivedPiece(const MemberPair &pair, const CollectiveSegment &segment, char *base);

/// Size and form of what one member sends to another.
struct PairTraffic {
  int64_t bytes = 0, runs = 0; ///< dense runs, counted on the side that has more of them
};
/// The largest number of bytes, and of runs, between any two members of `cut`; the same on all members.
PairTraffic largestTraffic(const CollectiveCall &call, const MeshAxis &cut);

/// Bytes of the output of `member`.
int64_t outputBytes(const CollectiveCall &call, const MeshAxis &cut, int64_t member);

/// The whole of a segment of an AllReduce, at `base`.
StridedPiece wholePiece(const CollectiveCall &call, const CollectiveSegment &segment, char *base);

/// The part of `member` of a range of an AllReduce of `bytes` bytes: whole cache lines, so that no element is cut.
Interval partOfRange(int64_t bytes, int64_t members, int64_t member);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_COLLECTIVEPIECES_H
