// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How the executor talks to other ranks. Implementations: Local (processes of one machine), later Mpi and Nccl.

#ifndef DS_RUNTIME_COLLECTIVE_H
#define DS_RUNTIME_COLLECTIVE_H

#include "ds/Plan/Plan.h"
#include "ds/Runtime/Device/Arena.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <memory>
#include <string>
#include <vector>

namespace ds::runtime {

/// plan::Segment with its buffers and extents resolved for this rank. The extents are lengths in elements and are equal
/// on all ranks of a group; see plan.fbs for the shapes that they give `input` and `output`.
struct CollectiveSegment {
  const void *input = nullptr;
  void *output = nullptr; ///< equal to `input` for AllReduce at most
  int64_t outer = 1, whole = 1, middle = 1, scatterWhole = 1, inner = 1;
  bool scatterFirst = false;
};

/// plan::Collective, resolved. It lives as long as the executor, at one address.
struct CollectiveCall {
  plan::CollectiveKind kind = plan::CollectiveKind::AllGather;
  plan::ReduceKind reduce = plan::ReduceKind::Sum;
  plan::DataType type = plan::DataType::F32;
  std::vector<CollectiveSegment> segments;
  std::string name; ///< the instruction's, for errors
};

/// Rows of `bytes` bytes, `stride` bytes apart, for or from the group's member `peer` (its number in the group).
struct SendPiece {
  int64_t peer = 0;
  const void *data = nullptr;
  int64_t bytes = 0, rows = 1, stride = 0;
};
struct ReceivePiece {
  int64_t peer = 0;
  void *data = nullptr;
  int64_t bytes = 0, rows = 1, stride = 0;
};

/// The ranks of one group, for one queue: they make the same calls in the same order. One thread uses it at a time,
/// except for `waitingForRank`. Members are numbered by ascending coordinate on the axis (for all axes: by rank).
class Communicator {
public:
  virtual ~Communicator() = default;

  virtual int64_t size() const = 0;
  virtual int64_t ownMember() const = 0;

  /// Announces a call before the first step, so that staging memory can be taken and the shapes looked at. Not
  /// collective.
  virtual absl::Status prepare(const CollectiveCall &call) {
    (void)call;
    return absl::OkStatus();
  }
  /// The collective. Member i owns ds::split(whole, axis, i); sums add in ascending member order, whatever the type's
  /// width, 16-bit data in f32. Returns when `output` is complete and `input` may be overwritten.
  virtual absl::Status run(const CollectiveCall &call) = 0;
  /// Sends and receives all pieces. The pieces for one peer, own member included, are one stream of bytes in the order
  /// of the list, which the peer may cut into pieces in another way; both sides agree on its length. All members call
  /// it, with empty lists if need be.
  virtual absl::Status exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) = 0;
  virtual absl::Status barrier() = 0;

  /// The rank that the call in progress waits for, or -1 if that is not known. From any thread.
  virtual int64_t waitingForRank() const { return -1; }
};

/// All groups of one rank. The executor opens, while it is created, each (queue, axis) that the plan uses, in ascending
/// order of queue, then axis: on all ranks the same.
class Transport {
public:
  static constexpr uint32_t kAllAxes = 0xFFFFFFFF; ///< in place of an axis: one group of all ranks (for plan::Remap)

  virtual ~Transport() = default;
  /// The communicator of this rank's group along mesh axis `axis` (an id of plan::MeshAxis), for queue `queue`.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> open(uint32_t queue, uint32_t axis) = 0;
  /// Memory for the buffers of collectives, which all lie in such arenas. By default like any other memory.
  virtual absl::StatusOr<std::unique_ptr<Arena>> takeArena(size_t bytes) { return Arena::create(bytes); }
  /// Makes calls in progress on all communicators, and later ones, fail soon on this rank, and tells its peers. From
  /// any thread.
  virtual void abort() = 0;
};

/// A transport whose groups have one member: each collective is a copy.
std::unique_ptr<Transport> createSingleRankTransport();

/// Copies the bytes of each segment from input to output, as every collective over one rank does.
void copySegments(const CollectiveCall &call);

} // namespace ds::runtime

#endif // DS_RUNTIME_COLLECTIVE_H
