// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The communicator of LocalTransport.
///
/// Every collective is a number of chunks that all members of the group pass in lock step. For chunk g each member
///   1. packs its bytes into its slot g % 2, once all members have consumed chunk g - 2, and publishes it;
///   2. reads its parts of all members' slots, once they are published; a reduction folds the parts that it owns,
///      in ascending member order, and an all-reduce then hands the folded parts round;
///   3. says that it has consumed the chunk.
/// Chunk g + 1 is packed before chunk g is read, so that members seldom wait for each other.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_LOCALCOMMUNICATOR_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_LOCALCOMMUNICATOR_H

#include "PieceStream.h"

#include "ds/Plan/Extents.h"
#include "ds/Runtime/Collective/Local/LocalTransport.h"

namespace ds::runtime {

/// Where a group's memory is, and who is in it.
struct LocalGroup {
  const SharedJob *job = nullptr;
  uint32_t queue = 0, axis = 0; ///< of SharedJob::channel
  MeshAxis cut;                 ///< the axis that cuts extents
  std::vector<int64_t> ranks;   ///< by member
  int64_t own = 0;              ///< this rank's member number
  int spinMicroseconds = 0;
};

class LocalCommunicator : public Communicator {
public:
  explicit LocalCommunicator(LocalGroup group);

  int64_t size() const override { return members; }
  int64_t ownMember() const override { return group.own; }
  absl::Status prepare(const CollectiveCall &call) override;
  absl::Status run(const CollectiveCall &call) override;
  absl::Status exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) override;
  absl::Status barrier() override;
  int64_t waitingForRank() const override { return waiting.load(std::memory_order_relaxed); }

private:
  /// Bytes to and from each member. With `toAll`, send[0] goes to all members.
  struct Transfer {
    std::vector<PieceStream> send, receive;
    bool toAll = false;
    int64_t chunks = 1;
    int64_t partBytes = 0; ///< of a slot, for one member (or all of it, with toAll)
  };
  struct Reduction {
    plan::ReduceKind kind;
    plan::DataType type;
  };

  Transfer makeTransfer(bool toAll) const;
  void fillAllGather(const CollectiveCall &call, Transfer &transfer) const;
  void fillReduceScatter(const CollectiveCall &call, Transfer &transfer) const;
  void fillAllToAll(const CollectiveCall &call, Transfer &transfer) const;

  absl::Status move(Transfer &transfer, const Reduction *reduction);
  absl::Status pack(Transfer &transfer, uint32_t chunk);
  absl::Status receivePieces(Transfer &transfer, uint32_t chunk);
  absl::Status receiveReduced(Transfer &transfer, const Reduction &reduction, uint32_t chunk);

  absl::Status allReduce(const CollectiveCall &call);
  absl::Status allReduceAtOnce(PieceStream &in, PieceStream &out, const Reduction &reduction);
  absl::Status packRange(PieceStream &in, int64_t bytes, uint32_t chunk);
  absl::Status reduceRange(PieceStream &out, int64_t bytes, const Reduction &reduction, uint32_t chunk);

  absl::Status waitForAll(SharedCounter ChannelState::*counter, uint32_t target);
  absl::Status waitForMember(int64_t member, SharedCounter ChannelState::*counter, uint32_t target);
  ChannelState &channel(int64_t member) const;
  char *slot(int64_t member, uint32_t chunk) const;
  int64_t slotBytes() const { return group.job->shape().slotBytes; }
  Interval part(int64_t whole, int64_t member) const { return split({0, whole}, group.cut, member); }

  LocalGroup group;
  int64_t members;
  uint32_t sequence = 0;  ///< chunks done on this communicator, modulo 2^32
  uint32_t exchanges = 0; ///< calls of exchange
  std::atomic<int64_t> waiting{-1};
};

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_LOCALCOMMUNICATOR_H
