// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "GroupChannel.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

namespace ds::runtime {

GroupChannel::GroupChannel(LocalGroup localGroup)
    : group(std::move(localGroup)), numMembers(static_cast<int64_t>(group.ranks.size())),
      bytesOfSlot(group.job->shape().slotBytes) {
  for (const int64_t rank : group.ranks) {
    states.push_back(&group.job->channel(group.queue, group.axis, rank));
    slots.push_back(group.job->slot(group.queue, group.axis, rank, 0));
    arenas.push_back(group.job->arena(rank));
  }
}

absl::Status GroupChannel::waitForMember(int64_t member, SharedCounter ChannelState::*counter, uint32_t target) {
  const int64_t rank = group.ranks[member];
  waiting.store(rank, std::memory_order_relaxed);
  const WaitResult result = waitFor(state(member).*counter, target, *group.job, group.spinMicroseconds);
  if (result != WaitResult::Reached) // `waiting` stays, for whoever asks what this rank had been waiting for
    return absl::UnavailableError(absl::StrCat("the job was ended while waiting for rank ", rank));
  waiting.store(-1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status GroupChannel::waitForAll(SharedCounter ChannelState::*counter, uint32_t target) {
  for (int64_t member = 0; member < numMembers; ++member)
    DS_RETURN_IF_ERROR(waitForMember(member, counter, target));
  return absl::OkStatus();
}

absl::Status GroupChannel::checkAborted() const {
  return group.job->isAborted() ? absl::UnavailableError("the job was ended") : absl::OkStatus();
}

} // namespace ds::runtime
