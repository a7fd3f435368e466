// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Collectives from one rank's arena to another's: one copy of each byte, or one fold, but two meetings of the members,
/// so the faster way for much data.
///
///   1. Each member publishes through its slot where in its arena the inputs and outputs are.
///   2. It reads what it needs from the others' inputs, straight into its output. In a reduction it folds the part that
///   it
///      owns, in ascending member order; in an all-reduce it also writes that part into the others' outputs.
///   3. It says that it has consumed everything, and leaves once all have: now its buffers are complete and may change.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_DIRECTTRANSFER_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_DIRECTTRANSFER_H

#include "GroupChannel.h"
#include "PieceStream.h"

#include "ds/Runtime/Collective.h"

namespace ds::runtime {

class DirectTransfer {
public:
  explicit DirectTransfer(GroupChannel &channel) : channel(channel) {}

  /// Whether the job has arenas and the places of `call`'s segments fit into a slot.
  bool fits(const CollectiveCall &call) const;
  /// Refuses a call whose buffers are not in the arenas of this rank.
  absl::Status check(const CollectiveCall &call) const;
  /// Runs a call that fits and is checked.
  absl::Status run(const CollectiveCall &call);

private:
  /// Of one segment: bytes from the begin of its member's arena.
  struct Places {
    int64_t input, output;
  };
  /// The bytes to fold, by member, and where the result goes.
  struct FoldStreams {
    std::vector<PieceStream> from, to;
    int64_t bytes = 0;
  };

  void publish(const CollectiveCall &call);
  char *inputOf(int64_t member, size_t segment) const;
  char *outputOf(int64_t member, size_t segment) const;
  const Places &placesOf(int64_t member, size_t segment) const;

  absl::Status moveData(const CollectiveCall &call);
  absl::Status copyPieces(const CollectiveCall &call);
  FoldStreams streamsOfReduceScatter(const CollectiveCall &call) const;
  FoldStreams streamsOfAllReduce(const CollectiveCall &call) const;
  absl::Status fold(const CollectiveCall &call, FoldStreams streams);
  void foldRun(const CollectiveCall &call, FoldStreams &streams, int64_t bytes);

  GroupChannel &channel;
  bool isStreamed = false;           ///< the call in progress stores its output past the caches
  std::vector<const char *> sources; ///< of a fold, kept for its memory
  std::vector<char *> targets;       ///< the same
};

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_DIRECTTRANSFER_H
