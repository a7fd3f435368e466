// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LocalCommunicator.h"

#include "CollectivePieces.h"
#include "Reduce.h"

#include "ds/Runtime/StatusMacros.h"

namespace ds::runtime {

LocalCommunicator::LocalCommunicator(LocalGroup group, const LocalOptions &options)
    : options(options), channel(std::move(group)), staged(channel), direct(channel) {}

/// The bytes, and dense runs, that the busiest pair of members exchanges; through slots an all-reduce passes everything
/// to all.
static PairTraffic trafficOf(const CollectiveCall &call, const MeshAxis &cut) {
  if (call.kind != plan::CollectiveKind::AllReduce)
    return largestTraffic(call, cut);
  PairTraffic traffic;
  char anywhere; // only sizes are looked at
  for (const CollectiveSegment &segment : call.segments) {
    traffic.bytes += wholePiece(call, segment, &anywhere).runBytes;
    ++traffic.runs;
  }
  return traffic;
}

// Looks at extents only, which all members know, so that all decide alike.
bool LocalCommunicator::isDirect(const CollectiveCall &call) const {
  if (channel.members() == 1 || !direct.fits(call))
    return false;
  const PairTraffic traffic = trafficOf(call, channel.cut());
  return traffic.bytes >= options.directBytes && traffic.bytes >= traffic.runs * options.directRunBytes;
}

absl::StatusOr<LocalCommunicator::Prepared> LocalCommunicator::lookAt(const CollectiveCall &call) const {
  if (call.kind == plan::CollectiveKind::ReduceScatter || call.kind == plan::CollectiveKind::AllReduce)
    DS_RETURN_IF_ERROR(checkReduction(call.reduce, call.type));
  Prepared known;
  known.isDirect = isDirect(call);
  if (known.isDirect)
    DS_RETURN_IF_ERROR(direct.check(call));
  else
    known.bytes = staged.lookAt(call);
  return known;
}

absl::Status LocalCommunicator::prepare(const CollectiveCall &call) {
  DS_ASSIGN_OR_RETURN(prepared[&call], lookAt(call));
  return absl::OkStatus();
}

absl::Status LocalCommunicator::run(const CollectiveCall &call, Prepared &prepared) {
  channel.rankState(channel.own()).setName(call.name);
  return prepared.isDirect ? direct.run(call) : staged.run(call, prepared.bytes);
}

absl::Status LocalCommunicator::run(const CollectiveCall &call) {
  if (const auto known = prepared.find(&call); known != prepared.end())
    return run(call, known->second);
  DS_ASSIGN_OR_RETURN(Prepared unknown, lookAt(call));
  return run(call, unknown);
}

absl::Status LocalCommunicator::exchange(absl::Span<const SendPiece> sends, absl::Span<const ReceivePiece> receives) {
  return staged.exchange(sends, receives);
}

} // namespace ds::runtime
