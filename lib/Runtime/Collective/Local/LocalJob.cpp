// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Collective/Local/LocalJob.h"

#include "ds/Runtime/Collective/Local/LocalTransport.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

namespace ds::runtime {

/// Steps follow each other soon: about so long who waits for the decision spins.
static constexpr int kDecisionSpinMicroseconds = 10;

std::unique_ptr<Transport> LocalJob::createTransport(const Mesh &mesh) {
  return createLocalTransport(shared, mesh, ownRank);
}

absl::Status LocalJob::meet() {
  shared.rankState(ownRank).arrivals.advance(++meetings);
  for (int64_t other = 0; other < ranks(); ++other) {
    SharedCounter &arrivals = shared.rankState(other).arrivals;
    const WaitResult result = waitFor(arrivals, meetings, shared, 0, timeout.count());
    // A rank that went on may have ended the job before this one woke up. They have met all the same.
    if (result == WaitResult::Aborted && !arrivals.reached(meetings))
      return absl::UnavailableError(absl::StrCat("the job was ended while waiting for rank ", other));
    if (result == WaitResult::TimedOut)
      return absl::DeadlineExceededError(
          absl::StrCat("rank ", other, " must be ready within ", timeout.count() / 1000.0, " s of rank ", ownRank));
  }
  return absl::OkStatus();
}

absl::StatusOr<StepDecision> LocalJob::decide(int64_t step, bool hasDiverged) {
  JobControl &control = shared.control();
  if (ownRank == 0) {
    control.hasDiverged.store(hasDiverged, std::memory_order_relaxed);
    if (hasDiverged || control.stopRequested.load(std::memory_order_acquire) != 0)
      control.stopAt.store(step, std::memory_order_release);
    control.decided.advance(static_cast<uint32_t>(step + 1));
  } else {
    const WaitResult result =
        waitFor(control.decided, static_cast<uint32_t>(step + 1), shared, kDecisionSpinMicroseconds, timeout.count());
    if (result == WaitResult::Aborted)
      return absl::UnavailableError(absl::StrCat("the job was ended before step ", step));
    if (result == WaitResult::TimedOut)
      return absl::DeadlineExceededError(absl::StrCat("rank ", ownRank, ", step ", step,
                                                      ": rank 0 has not begun the step within ",
                                                      timeout.count() / 1000.0, " s"));
  }
  if (control.stopAt.load(std::memory_order_acquire) > step)
    return StepDecision::Run;
  return control.hasDiverged.load(std::memory_order_relaxed) != 0 ? StepDecision::Diverged : StepDecision::Stop;
}

absl::StatusOr<int64_t> LocalJob::findLowest(int64_t number) {
  shared.rankState(ownRank).number.store(number, std::memory_order_relaxed);
  DS_RETURN_IF_ERROR(meet());
  int64_t lowest = 0;
  for (int64_t other = 1; other < ranks(); ++other)
    if (shared.rankState(other).number < shared.rankState(lowest).number)
      lowest = other;
  DS_RETURN_IF_ERROR(meet()); // before a rank may give its next number
  return lowest;
}

void LocalJob::showStep(int64_t step) { shared.rankState(ownRank).step.store(step, std::memory_order_relaxed); }

/// Arenas of ranks lie in the job's memory, all in the same order.
const void *LocalJob::findOnRank(int64_t other, const void *own) const {
  return shared.arena(other) + (static_cast<const char *>(own) - shared.arena(ownRank));
}

} // namespace ds::runtime
