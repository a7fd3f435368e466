// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The communicator of LocalTransport: chooses how each call moves its bytes.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_LOCALCOMMUNICATOR_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_LOCALCOMMUNICATOR_H

#include "DirectTransfer.h"
#include "StagedTransfer.h"

#include "ds/Runtime/Collective/Local/LocalTransport.h"

#include <unordered_map>

namespace ds::runtime {

class LocalCommunicator : public Communicator {
public:
  LocalCommunicator(LocalGroup group, const LocalOptions &options);

  int64_t size() const override { return channel.members(); }
  int64_t ownMember() const override { return channel.own(); }
  absl::Status prepare(const CollectiveCall &call) override;
  absl::Status run(const CollectiveCall &call) override;
  absl::Status exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) override;
  absl::Status barrier() override { return staged.barrier(); }
  int64_t waitingForRank() const override { return channel.waitingForRank(); }

private:
  /// What there is to know about a call before it runs.
  struct Prepared {
    bool isDirect = false;
    StagedBytes bytes; ///< unless it is direct
  };

  absl::StatusOr<Prepared> lookAt(const CollectiveCall &call) const;
  absl::Status run(const CollectiveCall &call, Prepared &prepared);
  bool isDirect(const CollectiveCall &call) const;

  const LocalOptions options;
  GroupChannel channel;
  StagedTransfer staged;
  DirectTransfer direct;
  std::unordered_map<const CollectiveCall *, Prepared> prepared; ///< calls that were announced
};

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_LOCALCOMMUNICATOR_H
