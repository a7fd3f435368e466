// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Collectives through slots in shared memory: two copies of each byte, but one meeting of the members, so the faster
/// way for little data, and the one that works wherever memory can be shared.
///
/// For chunk g each member
///   1. packs its bytes into its slot g % 2 and publishes it;
///   2. reads its parts of all members' slots; a reduction folds the parts that it owns, in ascending member order, and
///   an
///      all-reduce then hands the folded parts round;
///   3. says that it has consumed the chunk.
/// Chunk g + 1 is packed before chunk g is read, so that members seldom wait for each other.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_STAGEDTRANSFER_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_STAGEDTRANSFER_H

#include "GroupChannel.h"
#include "PieceStream.h"

#include "ds/Runtime/Collective.h"

#include "absl/types/span.h"

namespace ds::runtime {

/// Bytes to and from each member. With `toAll`, send[0] goes to all members.
struct StagedBytes {
  std::vector<PieceStream> send, receive;
  bool toAll = false;
  int64_t chunks = 1;
  int64_t partBytes = 0; ///< of a slot, for one member (or all of it, with toAll)

  void rewind();
};

class StagedTransfer {
public:
  explicit StagedTransfer(GroupChannel &channel) : channel(channel) {}

  /// What `call` moves; good for every run of the call.
  StagedBytes lookAt(const CollectiveCall &call) const;
  /// Runs a call, from the beginning of `bytes`.
  absl::Status run(const CollectiveCall &call, StagedBytes &bytes);
  absl::Status exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives);
  absl::Status barrier();

private:
  StagedBytes makeBytes(bool toAll) const;
  void addSegments(const CollectiveCall &call, StagedBytes &bytes) const;

  absl::Status move(StagedBytes &bytes, const CollectiveCall *reduction);
  absl::Status pack(StagedBytes &bytes, uint32_t chunk);
  absl::Status receivePieces(StagedBytes &bytes, uint32_t chunk);
  absl::Status receiveReduced(StagedBytes &bytes, const CollectiveCall &call, uint32_t chunk);

  absl::Status allReduce(const CollectiveCall &call, StagedBytes &bytes);
  absl::Status allReduceAtOnce(const CollectiveCall &call, StagedBytes &bytes);
  absl::Status packRange(PieceStream &in, int64_t bytes, uint32_t chunk);
  absl::Status reduceRange(const CollectiveCall &call, PieceStream &out, int64_t bytes, uint32_t chunk);
  const std::vector<const char *> &slotsAt(uint32_t chunk, int64_t offset);

  GroupChannel &channel;
  uint32_t exchanges = 0;            ///< calls of exchange
  std::vector<const char *> sources; ///< of a fold, kept for their memory
};

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_STAGEDTRANSFER_H
