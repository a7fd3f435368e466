// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// One member's end of what its group shares: counters to wait for and slots to hand bytes over.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_GROUPCHANNEL_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_GROUPCHANNEL_H

#include "ds/Layout/Mesh.h"
#include "ds/Runtime/Collective/Local/SharedJob.h"

#include "absl/status/status.h"

#include <atomic>
#include <vector>

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

/// A collective is a number of chunks that all members pass in lock step. For chunk g each member publishes what is in
/// its slot g % 2, once all have consumed chunk g - 2, and later says that it has consumed the chunk.
class GroupChannel {
public:
  explicit GroupChannel(LocalGroup group);

  int64_t members() const { return numMembers; }
  int64_t own() const { return group.own; }
  const MeshAxis &cut() const { return group.cut; }
  int64_t rankOf(int64_t member) const { return group.ranks[member]; }
  RankState &rankState(int64_t member) const { return group.job->rankState(group.ranks[member]); }

  ChannelState &state(int64_t member) const { return *states[member]; }
  ChannelState &ownState() const { return *states[group.own]; }
  char *slot(int64_t member, uint32_t chunk) const { return slots[member] + (chunk % 2) * slotBytes(); }
  int64_t slotBytes() const { return bytesOfSlot; }
  /// The arenas of a member; none where arenaBytes is 0.
  char *arena(int64_t member) const { return arenas[member]; }
  int64_t arenaBytes() const { return group.job->shape().arenaBytes; }

  /// Waits until the counter of one member, or of all, has reached `target`. Unavailable if the job is aborted.
  absl::Status waitForMember(int64_t member, SharedCounter ChannelState::*counter, uint32_t target);
  absl::Status waitForAll(SharedCounter ChannelState::*counter, uint32_t target);
  /// Unavailable if the job is aborted.
  absl::Status checkAborted() const;
  /// The rank that is waited for, or -1. From any thread.
  int64_t waitingForRank() const { return waiting.load(std::memory_order_relaxed); }

  uint32_t sequence = 0; ///< chunks done, modulo 2^32

private:
  const LocalGroup group;
  const int64_t numMembers;
  const int64_t bytesOfSlot;
  std::vector<ChannelState *> states; ///< by member
  std::vector<char *> slots;          ///< by member, the first of the two
  std::vector<char *> arenas;         ///< by member
  std::atomic<int64_t> waiting{-1};
};

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_GROUPCHANNEL_H
