// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels are limited by memory or by arithmetic, and which of the two depends on the speeds that are sought. So both
// begin with what the fastest kernel shows, which is no less than the truth, and are fitted to the kernels that the
// last values say they limit, until nothing changes.

#include "FitMachine.h"

#include <algorithm>

using namespace ds;

namespace {
/// Work and time of several instructions.
struct Sum {
  double amount = 0, seconds = 0;
  void add(double ofAmount, double ofSeconds) {
    amount += ofAmount;
    seconds += ofSeconds;
  }
  bool isKnown() const { return amount > 0 && seconds > 0; }
  double speed() const { return amount / seconds; }
};
} // namespace

static bool isKernel(const Work &work) { return work.elementOps > 0 && work.attentionFlops == 0; }

/// The time of instructions that have next to nothing to do.
static absl::Status fitCalls(const std::vector<MeasuredWork> &measured, Machine &machine) {
  constexpr double kFewBytes = 16 << 10;
  std::vector<double> seconds;
  for (const MeasuredWork &one : measured)
    if (isKernel(one.work) && one.work.bytes < kFewBytes)
      seconds.push_back(one.seconds);
  if (seconds.empty())
    return absl::InternalError("no instruction is small enough to show the time of a call");
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  machine.callSeconds = seconds[seconds.size() / 2];
  return absl::OkStatus();
}

static absl::Status fitKernels(const std::vector<MeasuredWork> &measured, Machine &machine) {
  constexpr int kMostRounds = 20;
  machine.memoryBytesPerSecond = machine.elementOpsPerCore = 0;
  const auto secondsOfWork = [&](const MeasuredWork &one) { return one.seconds - machine.callSeconds; };
  for (const MeasuredWork &one : measured)
    if (isKernel(one.work) && secondsOfWork(one) > machine.callSeconds) { // else the call is most of the time
      const double seconds = secondsOfWork(one);
      machine.memoryBytesPerSecond = std::max(machine.memoryBytesPerSecond, one.work.bytes / seconds);
      machine.elementOpsPerCore =
          std::max(machine.elementOpsPerCore, one.work.elementOps / seconds / sharingCores(one.work, machine));
    }
  if (machine.memoryBytesPerSecond == 0 || machine.elementOpsPerCore == 0)
    return absl::InternalError("there must be kernels to measure");
  for (int round = 0; round < kMostRounds; ++round) {
    Sum memory, arithmetic;
    for (const MeasuredWork &one : measured) {
      if (!isKernel(one.work) || secondsOfWork(one) <= 0)
        continue;
      const double operations = one.work.elementOps / sharingCores(one.work, machine);
      if (one.work.bytes / machine.memoryBytesPerSecond > operations / machine.elementOpsPerCore)
        memory.add(one.work.bytes, secondsOfWork(one));
      else
        arithmetic.add(operations, secondsOfWork(one));
    }
    // What limits no kernel, as times of a busy machine may say, stays as fast as the fastest kernel showed it.
    if (memory.isKnown())
      machine.memoryBytesPerSecond = memory.speed();
    if (arithmetic.isKnown())
      machine.elementOpsPerCore = arithmetic.speed();
  }
  return absl::OkStatus();
}

/// What the kernels' speeds leave of the time of products and of attention.
static absl::Status fitProducts(const std::vector<MeasuredWork> &measured, Machine &machine) {
  Sum matmuls, attention;
  for (const auto &[work, seconds] : measured) {
    const double cores = sharingCores(work, machine);
    if (work.matmulFlops > 0)
      matmuls.add(work.matmulFlops / cores,
                  seconds - machine.callSeconds - kExposedMemoryOfProducts * work.bytes / machine.memoryBytesPerSecond);
    if (work.attentionFlops > 0)
      attention.add(work.attentionFlops / cores,
                    seconds - machine.callSeconds - work.elementOps / machine.elementOpsPerCore / cores);
  }
  if (!matmuls.isKnown() || !attention.isKnown())
    return absl::InternalError("there must be products and attention to measure");
  machine.matmulFlopsPerCore = matmuls.speed();
  machine.attentionFlopsPerCore = attention.speed();
  return absl::OkStatus();
}

absl::Status ds::fitSpeeds(const std::vector<MeasuredWork> &measured, Machine &machine) {
  for (auto fit : {fitCalls, fitKernels, fitProducts})
    if (absl::Status status = fit(measured, machine); !status.ok())
      return status;
  return absl::OkStatus();
}

void ds::fitLink(const MeasuredLink &small, const MeasuredLink &large, Machine &machine) {
  machine.linkSeconds = small.seconds;
  machine.linkBytesPerSecond = (large.bytes - small.bytes) / (large.seconds - small.seconds);
}
