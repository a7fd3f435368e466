// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LocalCommunicator.h"

#include "Reduce.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace ds::runtime {

static constexpr int64_t kLine = 64;              // parts of slots begin on cache lines
static constexpr int64_t kAtOnceBytes = 16 << 10; // all-reduces up to this size take one round instead of two

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

LocalCommunicator::LocalCommunicator(LocalGroup localGroup)
    : group(std::move(localGroup)), members(static_cast<int64_t>(group.ranks.size())) {}

ChannelState &LocalCommunicator::channel(int64_t member) const {
  return group.job->channel(group.queue, group.axis, group.ranks[member]);
}

char *LocalCommunicator::slot(int64_t member, uint32_t chunk) const {
  return group.job->slot(group.queue, group.axis, group.ranks[member], chunk % 2);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

absl::Status LocalCommunicator::waitForMember(int64_t member, SharedCounter ChannelState::*counter, uint32_t target) {
  const int64_t rank = group.ranks[member];
  waiting.store(rank, std::memory_order_relaxed);
  const WaitResult result = waitFor(channel(member).*counter, target, *group.job, group.spinMicroseconds);
  if (result != WaitResult::Reached) // `waiting` stays, for whoever asks what this rank had been waiting for
    return absl::UnavailableError(absl::StrCat("the job was ended while waiting for rank ", rank));
  waiting.store(-1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status LocalCommunicator::waitForAll(SharedCounter ChannelState::*counter, uint32_t target) {
  for (int64_t member = 0; member < members; ++member)
    DS_RETURN_IF_ERROR(waitForMember(member, counter, target));
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// What goes where
//===----------------------------------------------------------------------===//

LocalCommunicator::Transfer LocalCommunicator::makeTransfer(bool toAll) const {
  Transfer transfer;
  transfer.toAll = toAll;
  transfer.send.resize(toAll ? 1 : members);
  transfer.receive.resize(members);
  transfer.partBytes = toAll ? slotBytes() : slotBytes() / members / kLine * kLine;
  return transfer;
}

static char *bytesOf(const void *data) { return const_cast<char *>(static_cast<const char *>(data)); }

void LocalCommunicator::fillAllGather(const CollectiveCall &call, Transfer &transfer) const {
  const int64_t width = static_cast<int64_t>(plan::sizeOf(call.type));
  for (const CollectiveSegment &segment : call.segments) {
    const int64_t wholeRow = segment.whole * segment.inner * width;
    for (int64_t member = 0; member < members; ++member) {
      const Interval rows = part(segment.whole, member);
      const int64_t run = rows.length() * segment.inner * width;
      char *out = bytesOf(segment.output) + rows.begin * segment.inner * width;
      transfer.receive[member].add({out, segment.outer, run, wholeRow});
      if (member == group.own)
        transfer.send[0].add({bytesOf(segment.input), segment.outer, run, run});
    }
  }
}

void LocalCommunicator::fillReduceScatter(const CollectiveCall &call, Transfer &transfer) const {
  const int64_t width = static_cast<int64_t>(plan::sizeOf(call.type));
  for (const CollectiveSegment &segment : call.segments) {
    const int64_t wholeRow = segment.whole * segment.inner * width;
    for (int64_t member = 0; member < members; ++member) {
      const Interval rows = part(segment.whole, member);
      const int64_t run = rows.length() * segment.inner * width;
      char *in = bytesOf(segment.input) + rows.begin * segment.inner * width;
      transfer.send[member].add({in, segment.outer, run, wholeRow});
      if (member == group.own)
        transfer.receive[member].add({bytesOf(segment.output), segment.outer, run, run});
    }
  }
}

// One side of the block is gathered (x), the other scattered (y); on both sides of a pair the bytes run over
// (outer, x, middle, y, inner), or with scatterFirst over (outer, y, middle, x, inner).
void LocalCommunicator::fillAllToAll(const CollectiveCall &call, Transfer &transfer) const {
  const int64_t width = static_cast<int64_t>(plan::sizeOf(call.type));
  for (const CollectiveSegment &segment : call.segments) {
    const int64_t ownPiece = part(segment.whole, group.own).length();
    const int64_t ownScatter = part(segment.scatterWhole, group.own).length();
    const int64_t cell = segment.inner * width;
    for (int64_t member = 0; member < members; ++member) {
      const Interval x = part(segment.whole, member), y = part(segment.scatterWhole, member);
      char *in = bytesOf(segment.input), *out = bytesOf(segment.output);
      if (segment.scatterFirst) {
        const int64_t sendUnit = segment.middle * ownPiece * cell; // bytes of one y in the input
        transfer.send[member].add(
            {in + y.begin * sendUnit, segment.outer, y.length() * sendUnit, segment.scatterWhole * sendUnit});
        transfer.receive[member].add({out + x.begin * cell, segment.outer * ownScatter * segment.middle,
                                      x.length() * cell, segment.whole * cell});
      } else {
        const int64_t receiveUnit = segment.middle * ownScatter * cell; // bytes of one x in the output
        transfer.send[member].add({in + y.begin * cell, segment.outer * ownPiece * segment.middle, y.length() * cell,
                                   segment.scatterWhole * cell});
        transfer.receive[member].add(
            {out + x.begin * receiveUnit, segment.outer, x.length() * receiveUnit, segment.whole * receiveUnit});
      }
    }
  }
}

/// The most bytes that any member sends to any other in an all-to-all.
static int64_t largestAllToAllPart(const CollectiveCall &call, const MeshAxis &cut, int64_t members) {
  const int64_t width = static_cast<int64_t>(plan::sizeOf(call.type));
  int64_t largest = 0;
  for (int64_t from = 0; from < members; ++from)
    for (int64_t to = 0; to < members; ++to) {
      int64_t bytes = 0;
      for (const CollectiveSegment &segment : call.segments)
        bytes += segment.outer * segment.middle * segment.inner * width *
                 split({0, segment.whole}, cut, from).length() * split({0, segment.scatterWhole}, cut, to).length();
      largest = std::max(largest, bytes);
    }
  return largest;
}

/// The most bytes of the part of any member, where all parts are cuts of `whole`.
static int64_t largestPart(const CollectiveCall &call, const MeshAxis &cut, int64_t members) {
  const int64_t width = static_cast<int64_t>(plan::sizeOf(call.type));
  int64_t largest = 0;
  for (int64_t member = 0; member < members; ++member) {
    int64_t bytes = 0;
    for (const CollectiveSegment &segment : call.segments)
      bytes += segment.outer * segment.inner * width * split({0, segment.whole}, cut, member).length();
    largest = std::max(largest, bytes);
  }
  return largest;
}

//===----------------------------------------------------------------------===//
// Moving chunks
//===----------------------------------------------------------------------===//

absl::Status LocalCommunicator::pack(Transfer &transfer, uint32_t chunk) {
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::consumed, chunk - 1));
  char *target = slot(group.own, chunk);
  for (PieceStream &stream : transfer.send) {
    stream.gather(std::min(stream.left(), transfer.partBytes), target);
    target += transfer.partBytes;
  }
  channel(group.own).published.advance(chunk + 1);
  return absl::OkStatus();
}

absl::Status LocalCommunicator::receivePieces(Transfer &transfer, uint32_t chunk) {
  for (int64_t i = 0; i < members; ++i) {
    const int64_t member = (group.own + i) % members; // own part first, then each from another neighbour
    DS_RETURN_IF_ERROR(waitForMember(member, &ChannelState::published, chunk + 1));
    PieceStream &stream = transfer.receive[member];
    const char *source = slot(member, chunk) + (transfer.toAll ? 0 : group.own * transfer.partBytes);
    stream.scatter(std::min(stream.left(), transfer.partBytes), source);
  }
  return absl::OkStatus();
}

absl::Status LocalCommunicator::receiveReduced(Transfer &transfer, const Reduction &reduction, uint32_t chunk) {
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::published, chunk + 1));
  PieceStream &stream = transfer.receive[group.own];
  const int64_t bytes = std::min(stream.left(), transfer.partBytes);
  std::vector<const char *> sources;
  for (int64_t member = 0; member < members; ++member)
    sources.push_back(slot(member, chunk) + group.own * transfer.partBytes);
  char *sum = slot(group.own, chunk) + group.own * transfer.partBytes; // nobody else reads this part
  reduceElements(reduction.kind, reduction.type, sources, sum, bytes);
  stream.scatter(bytes, sum);
  return absl::OkStatus();
}

absl::Status LocalCommunicator::move(Transfer &transfer, const Reduction *reduction) {
  absl::Status status = pack(transfer, sequence);
  for (int64_t i = 0; i < transfer.chunks && status.ok(); ++i) {
    const uint32_t chunk = sequence + static_cast<uint32_t>(i);
    if (i + 1 < transfer.chunks)
      status = pack(transfer, chunk + 1);
    if (status.ok())
      status = reduction ? receiveReduced(transfer, *reduction, chunk) : receivePieces(transfer, chunk);
    if (status.ok())
      channel(group.own).consumed.advance(chunk + 1);
  }
  sequence += static_cast<uint32_t>(transfer.chunks);
  return status;
}

//===----------------------------------------------------------------------===//
// All-reduce
//===----------------------------------------------------------------------===//

/// Member's part of a range of `bytes` bytes: whole cache lines, so that no element is cut.
static Interval partOfRange(int64_t bytes, int64_t members, int64_t member) {
  const int64_t each = ceilDiv(ceilDiv(bytes, members), kLine) * kLine;
  return {std::min(bytes, member * each), std::min(bytes, (member + 1) * each)};
}

absl::Status LocalCommunicator::packRange(PieceStream &in, int64_t bytes, uint32_t chunk) {
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::consumed, chunk - 1));
  in.gather(bytes, slot(group.own, chunk));
  channel(group.own).published.advance(chunk + 1);
  return absl::OkStatus();
}

absl::Status LocalCommunicator::reduceRange(PieceStream &out, int64_t bytes, const Reduction &reduction,
                                            uint32_t chunk) {
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::published, chunk + 1));
  const Interval mine = partOfRange(bytes, members, group.own);
  std::vector<const char *> sources;
  for (int64_t member = 0; member < members; ++member)
    sources.push_back(slot(member, chunk) + mine.begin);
  reduceElements(reduction.kind, reduction.type, sources, slot(group.own, chunk) + mine.begin, mine.length());
  channel(group.own).reduced.advance(chunk + 1);
  for (int64_t member = 0; member < members; ++member) {
    DS_RETURN_IF_ERROR(waitForMember(member, &ChannelState::reduced, chunk + 1));
    const Interval theirs = partOfRange(bytes, members, member);
    out.scatter(theirs.length(), slot(member, chunk) + theirs.begin);
  }
  return absl::OkStatus();
}

absl::Status LocalCommunicator::allReduceAtOnce(PieceStream &in, PieceStream &out, const Reduction &reduction) {
  const int64_t bytes = in.bytes();
  const uint32_t chunk = sequence++;
  DS_RETURN_IF_ERROR(packRange(in, bytes, chunk));
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::published, chunk + 1));
  std::vector<const char *> sources;
  for (int64_t member = 0; member < members; ++member)
    sources.push_back(slot(member, chunk));
  std::vector<char> sum(bytes);
  reduceElements(reduction.kind, reduction.type, sources, sum.data(), bytes);
  out.scatter(bytes, sum.data());
  channel(group.own).reduced.advance(chunk + 1);
  channel(group.own).consumed.advance(chunk + 1);
  return absl::OkStatus();
}

absl::Status LocalCommunicator::allReduce(const CollectiveCall &call) {
  const int64_t width = static_cast<int64_t>(plan::sizeOf(call.type));
  PieceStream in, out;
  for (const CollectiveSegment &segment : call.segments) {
    const int64_t bytes = segment.outer * segment.whole * segment.middle * segment.inner * width;
    in.add({bytesOf(segment.input), 1, bytes, bytes});
    out.add({bytesOf(segment.output), 1, bytes, bytes});
  }
  const Reduction reduction{call.reduce, call.type};
  if (in.bytes() <= kAtOnceBytes && in.bytes() <= slotBytes())
    return allReduceAtOnce(in, out, reduction);

  // Lock step as in `move`; the range of chunk i is read before chunk i - 1 is written, so input may be output.
  const int64_t total = in.bytes(), each = slotBytes() / members / kLine * kLine * members;
  const int64_t chunks = ceilDiv(total, each);
  const auto rangeBytes = [&](int64_t i) { return std::min(each, total - i * each); };
  absl::Status status = packRange(in, rangeBytes(0), sequence);
  for (int64_t i = 0; i < chunks && status.ok(); ++i) {
    const uint32_t chunk = sequence + static_cast<uint32_t>(i);
    if (i + 1 < chunks)
      status = packRange(in, rangeBytes(i + 1), chunk + 1);
    if (status.ok())
      status = reduceRange(out, rangeBytes(i), reduction, chunk);
    if (status.ok())
      channel(group.own).consumed.advance(chunk + 1);
  }
  sequence += static_cast<uint32_t>(chunks);
  return status;
}

//===----------------------------------------------------------------------===//
// Communicator
//===----------------------------------------------------------------------===//

static bool isReduction(plan::CollectiveKind kind) {
  return kind == plan::CollectiveKind::ReduceScatter || kind == plan::CollectiveKind::AllReduce;
}

absl::Status LocalCommunicator::prepare(const CollectiveCall &call) {
  return isReduction(call.kind) ? checkReduction(call.reduce, call.type) : absl::OkStatus();
}

absl::Status LocalCommunicator::run(const CollectiveCall &call) {
  DS_RETURN_IF_ERROR(prepare(call));
  group.job->rankState(group.ranks[group.own]).setName(call.name);
  if (call.kind == plan::CollectiveKind::AllReduce)
    return allReduce(call);

  Transfer transfer = makeTransfer(call.kind == plan::CollectiveKind::AllGather);
  int64_t largest = 0;
  if (call.kind == plan::CollectiveKind::AllToAll) {
    fillAllToAll(call, transfer);
    largest = largestAllToAllPart(call, group.cut, members);
  } else {
    if (call.kind == plan::CollectiveKind::AllGather)
      fillAllGather(call, transfer);
    else
      fillReduceScatter(call, transfer);
    largest = largestPart(call, group.cut, members);
  }
  transfer.chunks = std::max<int64_t>(1, ceilDiv(largest, transfer.partBytes));
  const Reduction reduction{call.reduce, call.type};
  return move(transfer, call.kind == plan::CollectiveKind::ReduceScatter ? &reduction : nullptr);
}

// Members know their own pieces only, so the number of chunks is agreed upon with the first one.
absl::Status LocalCommunicator::exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) {
  Transfer transfer = makeTransfer(/*toAll=*/false);
  int64_t largest = 0;
  for (const SendPiece &piece : sends) {
    transfer.send[piece.peer].add({bytesOf(piece.data), 1, piece.bytes, piece.bytes});
    largest = std::max(largest, piece.bytes);
  }
  for (const ReceivePiece &piece : receives)
    transfer.receive[piece.peer].add({bytesOf(piece.data), 1, piece.bytes, piece.bytes});

  const uint32_t parity = exchanges++ % 2;
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::consumed, sequence - 1));
  channel(group.own).chunks[parity] = std::max<int64_t>(1, ceilDiv(largest, transfer.partBytes));
  DS_RETURN_IF_ERROR(pack(transfer, sequence));
  DS_RETURN_IF_ERROR(waitForAll(&ChannelState::published, sequence + 1));
  for (int64_t member = 0; member < members; ++member)
    transfer.chunks = std::max(transfer.chunks, channel(member).chunks[parity]);

  for (int64_t i = 0; i < transfer.chunks; ++i) {
    const uint32_t chunk = sequence++;
    DS_RETURN_IF_ERROR(i == 0 ? absl::OkStatus() : pack(transfer, chunk));
    DS_RETURN_IF_ERROR(receivePieces(transfer, chunk));
    channel(group.own).consumed.advance(chunk + 1);
  }
  return absl::OkStatus();
}

absl::Status LocalCommunicator::barrier() {
  Transfer transfer = makeTransfer(/*toAll=*/true);
  return move(transfer, nullptr);
}

} // namespace ds::runtime
