// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StagedTransfer.h"

#include "CollectivePieces.h"
#include "Reduce.h"

#include "ds/Runtime/StatusMacros.h"

#include <algorithm>

namespace ds::runtime {

static constexpr int64_t kLine = 64;              // parts of slots begin on cache lines
static constexpr int64_t kAtOnceBytes = 16 << 10; // all-reduces up to this size take one round instead of two

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static char *bytesOf(const void *data) { return const_cast<char *>(static_cast<const char *>(data)); }

//===----------------------------------------------------------------------===//
// What goes where
//===----------------------------------------------------------------------===//

void StagedBytes::rewind() {
  for (PieceStream &stream : send)
    stream.rewind();
  for (PieceStream &stream : receive)
    stream.rewind();
}

StagedBytes StagedTransfer::makeBytes(bool toAll) const {
  StagedBytes bytes;
  bytes.toAll = toAll;
  bytes.send.resize(toAll ? 1 : channel.members());
  bytes.receive.resize(channel.members());
  bytes.partBytes = toAll ? channel.slotBytes() : channel.slotBytes() / channel.members() / kLine * kLine;
  return bytes;
}

void StagedTransfer::addSegments(const CollectiveCall &call, StagedBytes &bytes) const {
  for (const CollectiveSegment &segment : call.segments)
    for (int64_t member = 0; member < channel.members(); ++member) {
      const MemberPair toMember{call, channel.cut(), channel.own(), member};
      const MemberPair fromMember{call, channel.cut(), member, channel.own()};
      if (!bytes.toAll || member == channel.own())
        bytes.send[bytes.toAll ? 0 : member].add(sentPiece(toMember, segment, bytesOf(segment.input)));
      if (call.kind != plan::CollectiveKind::ReduceScatter || member == channel.own())
        bytes.receive[member].add(receivedPiece(fromMember, segment, bytesOf(segment.output)));
    }
}

StagedBytes StagedTransfer::lookAt(const CollectiveCall &call) const {
  const bool isAllReduce = call.kind == plan::CollectiveKind::AllReduce;
  StagedBytes bytes = makeBytes(isAllReduce || call.kind == plan::CollectiveKind::AllGather);
  if (!isAllReduce) {
    addSegments(call, bytes);
    bytes.chunks = std::max<int64_t>(1, ceilDiv(largestTraffic(call, channel.cut()).bytes, bytes.partBytes));
    return bytes;
  }
  for (const CollectiveSegment &segment : call.segments) {
    bytes.send[0].add(wholePiece(call, segment, bytesOf(segment.input)));
    bytes.receive[0].add(wholePiece(call, segment, bytesOf(segment.output)));
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Moving chunks
//===----------------------------------------------------------------------===//

absl::Status StagedTransfer::pack(StagedBytes &bytes, uint32_t chunk) {
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::consumed, chunk - 1));
  char *target = channel.slot(channel.own(), chunk);
  for (PieceStream &stream : bytes.send) {
    stream.gather(std::min(stream.left(), bytes.partBytes), target);
    target += bytes.partBytes;
  }
  channel.ownState().published.advance(chunk + 1);
  return absl::OkStatus();
}

absl::Status StagedTransfer::receivePieces(StagedBytes &bytes, uint32_t chunk) {
  for (int64_t i = 0; i < channel.members(); ++i) {
    const int64_t member = (channel.own() + i) % channel.members(); // own part first, then each from another neighbour
    DS_RETURN_IF_ERROR(channel.waitForMember(member, &ChannelState::published, chunk + 1));
    PieceStream &stream = bytes.receive[member];
    const char *source = channel.slot(member, chunk) + (bytes.toAll ? 0 : channel.own() * bytes.partBytes);
    stream.scatter(std::min(stream.left(), bytes.partBytes), source);
  }
  return absl::OkStatus();
}

const std::vector<const char *> &StagedTransfer::slotsAt(uint32_t chunk, int64_t offset) {
  sources.clear();
  for (int64_t member = 0; member < channel.members(); ++member)
    sources.push_back(channel.slot(member, chunk) + offset);
  return sources;
}

absl::Status StagedTransfer::receiveReduced(StagedBytes &bytes, const CollectiveCall &call, uint32_t chunk) {
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::published, chunk + 1));
  PieceStream &stream = bytes.receive[channel.own()];
  const int64_t now = std::min(stream.left(), bytes.partBytes);
  const int64_t offset = channel.own() * bytes.partBytes;
  char *target = stream.nextRun(now);
  char *sum = target ? target : channel.slot(channel.own(), chunk) + offset; // nobody else reads this part
  reduceElements(call.reduce, call.type, slotsAt(chunk, offset), {sum}, now);
  if (target)
    stream.skip(now);
  else
    stream.scatter(now, sum);
  return absl::OkStatus();
}

absl::Status StagedTransfer::move(StagedBytes &bytes, const CollectiveCall *reduction) {
  const uint32_t begin = channel.sequence;
  absl::Status status = pack(bytes, begin);
  for (int64_t i = 0; i < bytes.chunks && status.ok(); ++i) {
    const uint32_t chunk = begin + static_cast<uint32_t>(i);
    if (i + 1 < bytes.chunks)
      status = pack(bytes, chunk + 1);
    if (status.ok())
      status = reduction ? receiveReduced(bytes, *reduction, chunk) : receivePieces(bytes, chunk);
    if (status.ok())
      channel.ownState().consumed.advance(chunk + 1);
  }
  channel.sequence += static_cast<uint32_t>(bytes.chunks);
  return status;
}

//===----------------------------------------------------------------------===//
// All-reduce
//===----------------------------------------------------------------------===//

absl::Status StagedTransfer::packRange(PieceStream &in, int64_t bytes, uint32_t chunk) {
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::consumed, chunk - 1));
  in.gather(bytes, channel.slot(channel.own(), chunk));
  channel.ownState().published.advance(chunk + 1);
  return absl::OkStatus();
}

absl::Status StagedTransfer::reduceRange(const CollectiveCall &call, PieceStream &out, int64_t bytes, uint32_t chunk) {
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::published, chunk + 1));
  const Interval mine = partOfRange(bytes, channel.members(), channel.own());
  reduceElements(call.reduce, call.type, slotsAt(chunk, mine.begin), {channel.slot(channel.own(), chunk) + mine.begin},
                 mine.length());
  channel.ownState().reduced.advance(chunk + 1);
  for (int64_t member = 0; member < channel.members(); ++member) {
    DS_RETURN_IF_ERROR(channel.waitForMember(member, &ChannelState::reduced, chunk + 1));
    const Interval theirs = partOfRange(bytes, channel.members(), member);
    out.scatter(theirs.length(), channel.slot(member, chunk) + theirs.begin);
  }
  return absl::OkStatus();
}

absl::Status StagedTransfer::allReduceAtOnce(const CollectiveCall &call, StagedBytes &bytes) {
  PieceStream &in = bytes.send[0], &out = bytes.receive[0];
  const uint32_t chunk = channel.sequence++;
  DS_RETURN_IF_ERROR(packRange(in, in.bytes(), chunk));
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::published, chunk + 1));
  alignas(kLine) char sum[kAtOnceBytes]; // not the slot, which the others are reading
  char *target = out.nextRun(out.bytes());
  reduceElements(call.reduce, call.type, slotsAt(chunk, 0), {target ? target : sum}, in.bytes());
  if (!target)
    out.scatter(in.bytes(), sum);
  channel.ownState().reduced.advance(chunk + 1);
  channel.ownState().consumed.advance(chunk + 1);
  return absl::OkStatus();
}

// Lock step as in `move`; the range of chunk i is read before chunk i - 1 is written, so input may be output.
absl::Status StagedTransfer::allReduce(const CollectiveCall &call, StagedBytes &bytes) {
  PieceStream &in = bytes.send[0], &out = bytes.receive[0];
  const int64_t total = in.bytes(), each = channel.slotBytes() / channel.members() / kLine * kLine * channel.members();
  if (total <= std::min(kAtOnceBytes, channel.slotBytes()))
    return allReduceAtOnce(call, bytes);
  const int64_t chunks = ceilDiv(total, each);
  const auto rangeBytes = [&](int64_t i) { return std::min(each, total - i * each); };
  const uint32_t begin = channel.sequence;
  absl::Status status = packRange(in, rangeBytes(0), begin);
  for (int64_t i = 0; i < chunks && status.ok(); ++i) {
    const uint32_t chunk = begin + static_cast<uint32_t>(i);
    if (i + 1 < chunks)
      status = packRange(in, rangeBytes(i + 1), chunk + 1);
    if (status.ok())
      status = reduceRange(call, out, rangeBytes(i), chunk);
    if (status.ok())
      channel.ownState().consumed.advance(chunk + 1);
  }
  channel.sequence += static_cast<uint32_t>(chunks);
  return status;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

absl::Status StagedTransfer::run(const CollectiveCall &call, StagedBytes &bytes) {
  bytes.rewind();
  if (call.kind == plan::CollectiveKind::AllReduce)
    return allReduce(call, bytes);
  return move(bytes, call.kind == plan::CollectiveKind::ReduceScatter ? &call : nullptr);
}

// Members know their own pieces only, so the number of chunks is agreed upon with the first one.
absl::Status StagedTransfer::exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) {
  StagedBytes bytes = makeBytes(/*toAll=*/false);
  for (const SendPiece &piece : sends)
    bytes.send[piece.peer].add({bytesOf(piece.data), piece.rows, piece.bytes, piece.stride});
  for (const ReceivePiece &piece : receives)
    bytes.receive[piece.peer].add({bytesOf(piece.data), piece.rows, piece.bytes, piece.stride});
  int64_t largest = 0;
  for (const PieceStream &stream : bytes.send)
    largest = std::max(largest, stream.bytes());

  const uint32_t parity = exchanges++ % 2;
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::consumed, channel.sequence - 1));
  channel.ownState().chunks[parity] = std::max<int64_t>(1, ceilDiv(largest, bytes.partBytes));
  DS_RETURN_IF_ERROR(pack(bytes, channel.sequence));
  DS_RETURN_IF_ERROR(channel.waitForAll(&ChannelState::published, channel.sequence + 1));
  for (int64_t member = 0; member < channel.members(); ++member)
    bytes.chunks = std::max(bytes.chunks, channel.state(member).chunks[parity]);

  for (int64_t i = 0; i < bytes.chunks; ++i) {
    const uint32_t chunk = channel.sequence++;
    DS_RETURN_IF_ERROR(i == 0 ? absl::OkStatus() : pack(bytes, chunk));
    DS_RETURN_IF_ERROR(receivePieces(bytes, chunk));
    channel.ownState().consumed.advance(chunk + 1);
  }
  return absl::OkStatus();
}

absl::Status StagedTransfer::barrier() {
  StagedBytes bytes = makeBytes(/*toAll=*/true);
  return move(bytes, nullptr);
}

} // namespace ds::runtime
