// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "DirectTransfer.h"

#include "CollectivePieces.h"
#include "Reduce.h"

#include "ds/Runtime/Device/FastCopy.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace ds::runtime {

static constexpr int64_t kCopyBytes = 1 << 20;   // between two looks at whether the job is aborted
static constexpr int64_t kStreamBytes = 4 << 20; // larger outputs do not stay in a cache anyway

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool DirectTransfer::fits(const CollectiveCall &call) const {
  return channel.arenaBytes() > 0 && static_cast<int64_t>(call.segments.size() * sizeof(Places)) <= channel.slotBytes();
}

absl::Status DirectTransfer::check(const CollectiveCall &call) const {
  const char *begin = channel.arena(channel.own()), *end = begin + channel.arenaBytes();
  const auto isInside = [&](const void *data) { return data >= begin && data <= end; };
  for (const CollectiveSegment &segment : call.segments)
    if (!isInside(segment.input) || !isInside(segment.output))
      return absl::InvalidArgumentError(
          absl::StrCat("buffers of collectives must be in the arenas of rank ", channel.rankOf(channel.own())));
  return absl::OkStatus();
}

void DirectTransfer::publish(const CollectiveCall &call) {
  const char *begin = channel.arena(channel.own());
  auto *places = reinterpret_cast<Places *>(channel.slot(channel.own(), channel.sequence));
  for (const CollectiveSegment &segment : call.segments)
    *places++ = {static_cast<const char *>(segment.input) - begin, static_cast<const char *>(segment.output) - begin};
  channel.ownState().published.advance(channel.sequence + 1);
}

const DirectTransfer::Places &DirectTransfer::placesOf(int64_t member, size_t segment) const {
  return reinterpret_cast<const Places *>(channel.slot(member, channel.sequence))[segment];
}

char *DirectTransfer::inputOf(int64_t member, size_t segment) const {
  return channel.arena(member) + placesOf(member, segment).input;
}

char *DirectTransfer::outputOf(int64_t member, size_t segment) const {
  return channel.arena(member) + placesOf(member, segment).output;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

absl::Status DirectTransfer::copyPieces(const CollectiveCall &call) {
  for (int64_t i = 0; i < channel.members(); ++i) {
    const int64_t member = (channel.own() + i) % channel.members(); // each from another neighbour
    DS_RETURN_IF_ERROR(channel.waitForMember(member, &ChannelState::published, channel.sequence + 1));
    const MemberPair pair{call, channel.cut(), member, channel.own()};
    PieceStream from, to;
    for (size_t s = 0; s < call.segments.size(); ++s) {
      from.add(sentPiece(pair, call.segments[s], inputOf(member, s)));
      to.add(receivedPiece(pair, call.segments[s], outputOf(channel.own(), s)));
    }
    while (to.left() > 0) {
      DS_RETURN_IF_ERROR(channel.checkAborted());
      takePairs(from, to, std::min(kCopyBytes, to.left()), [&](const char *source, char *target, int64_t bytes) {
        isStreamed ? streamBytes(target, source, bytes) : copyBytes(target, source, bytes);
      });
    }
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

DirectTransfer::FoldStreams DirectTransfer::streamsOfReduceScatter(const CollectiveCall &call) const {
  FoldStreams streams;
  streams.from.resize(channel.members());
  streams.to.resize(1);
  const int64_t own = channel.own();
  for (size_t s = 0; s < call.segments.size(); ++s) {
    for (int64_t member = 0; member < channel.members(); ++member)
      streams.from[member].add(sentPiece({call, channel.cut(), member, own}, call.segments[s], inputOf(member, s)));
    streams.to[0].add(receivedPiece({call, channel.cut(), own, own}, call.segments[s], outputOf(own, s)));
  }
  streams.bytes = streams.to[0].bytes();
  return streams;
}

// Of the part that this rank owns nobody else reads the inputs, so output may be input on any member.
DirectTransfer::FoldStreams DirectTransfer::streamsOfAllReduce(const CollectiveCall &call) const {
  FoldStreams streams;
  streams.from.resize(channel.members());
  streams.to.resize(channel.members());
  for (int64_t i = 0; i < channel.members(); ++i) {
    const int64_t member = (channel.own() + i) % channel.members();
    for (size_t s = 0; s < call.segments.size(); ++s) {
      streams.from[member].add(wholePiece(call, call.segments[s], inputOf(member, s)));
      streams.to[i].add(wholePiece(call, call.segments[s], outputOf(member, s)));
    }
  }
  const Interval mine = partOfRange(streams.from[0].bytes(), channel.members(), channel.own());
  for (std::vector<PieceStream> *side : {&streams.from, &streams.to})
    for (PieceStream &stream : *side)
      stream.skip(mine.begin);
  streams.bytes = mine.length();
  return streams;
}

void DirectTransfer::foldRun(const CollectiveCall &call, FoldStreams &streams, int64_t bytes) {
  sources.clear();
  targets.clear();
  for (PieceStream &stream : streams.from)
    stream.take(bytes, [&](const char *run, int64_t) { sources.push_back(run); });
  for (PieceStream &stream : streams.to)
    stream.take(bytes, [&](char *run, int64_t) { targets.push_back(run); });
  reduceElements(call.reduce, call.type, sources, targets, bytes, isStreamed);
}

absl::Status DirectTransfer::fold(const CollectiveCall &call, FoldStreams streams) {
  for (int64_t left = streams.bytes; left > 0;) {
    int64_t now = std::min(left, kCopyBytes);
    for (const std::vector<PieceStream> *side : {&streams.from, &streams.to})
      for (const PieceStream &stream : *side)
        now = std::min(now, stream.runLeft());
    DS_RETURN_IF_ERROR(channel.checkAborted());
    foldRun(call, streams, now);
    left -= now;
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

absl::Status DirectTransfer::moveData(const CollectiveCall &call) {
  if (call.kind == plan::CollectiveKind::AllGather || call.kind == plan::CollectiveKind::AllToAll)
    return copyPieces(call);
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::published, channel.sequence + 1));
  return fold(call,
              call.kind == plan::CollectiveKind::AllReduce ? streamsOfAllReduce(call) : streamsOfReduceScatter(call));
}

absl::Status DirectTransfer::run(const CollectiveCall &call) {
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::consumed, channel.sequence - 1)); // the slot is free
  publish(call);
  isStreamed = call.kind != plan::CollectiveKind::AllReduce && // whose outputs are often its inputs: in a cache already
               outputBytes(call, channel.cut(), channel.own()) >= kStreamBytes;
  DS_RETURN_IF_ERROR(moveData(call));
  if (isStreamed)
    finishStreams();
  channel.ownState().consumed.advance(++channel.sequence);
  return channel.waitForAll(&ChannelState::consumed, channel.sequence);
}

} // namespace ds::runtime
