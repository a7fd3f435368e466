// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds-run/FitMachine.h"

#include <gmock/gmock.h>

using namespace ds;
using testing::HasSubstr;

static Machine knownMachine() {
  Machine machine;
  machine.cores = 2;
  machine.matmulFlopsPerCore = 2e11;
  machine.attentionFlopsPerCore = 1.5e11;
  machine.elementOpsPerCore = 6e10;
  machine.memoryBytesPerSecond = 5e10;
  machine.callSeconds = 1e-6;
  machine.linkSeconds = 1e-6;
  machine.linkBytesPerSecond = 1e10;
  return machine;
}

/// A product, attention, two kernels of memory, two of arithmetic, one of a single part, and two with nothing to do.
static std::vector<Work> allKinds() {
  std::vector<Work> kinds(9);
  kinds[0].matmulFlops = 2e9, kinds[0].bytes = 2e7;
  kinds[1].attentionFlops = 8e8, kinds[1].elementOps = 1e8, kinds[1].bytes = 3e6, kinds[1].parts = 32;
  kinds[2].elementOps = 1e6, kinds[2].bytes = 8e6, kinds[2].parts = 64;
  kinds[3].elementOps = 4e6, kinds[3].bytes = 3e7, kinds[3].parts = 64;
  kinds[4].elementOps = 9e7, kinds[4].bytes = 2e7, kinds[4].parts = 64;
  kinds[5].elementOps = 2e7, kinds[5].bytes = 4e6, kinds[5].parts = 64;
  kinds[6].elementOps = 8e5, kinds[6].bytes = 1e5, kinds[6].parts = 1;
  kinds[7].elementOps = 1, kinds[7].bytes = 4;
  kinds[8].elementOps = 1, kinds[8].bytes = 4;
  return kinds;
}

static std::vector<MeasuredWork> measuredOn(const Machine &machine) {
  std::vector<MeasuredWork> measured;
  for (const Work &work : allKinds())
    measured.push_back({work, secondsOf(work, machine)});
  return measured;
}

TEST(FitMachine, FindsTheConstantsThatMadeTheTimes) {
  const Machine known = knownMachine();
  Machine fitted;
  fitted.cores = known.cores;
  ASSERT_TRUE(fitSpeeds(measuredOn(known), fitted).ok());
  const auto expectNear = [](double value, double expected) { EXPECT_NEAR(value / expected, 1, 1e-3); };
  expectNear(fitted.callSeconds, known.callSeconds);
  expectNear(fitted.memoryBytesPerSecond, known.memoryBytesPerSecond);
  expectNear(fitted.elementOpsPerCore, known.elementOpsPerCore);
  expectNear(fitted.matmulFlopsPerCore, known.matmulFlopsPerCore);
  expectNear(fitted.attentionFlopsPerCore, known.attentionFlopsPerCore);
}

TEST(FitMachine, IsOursToMendIfAKindIsMissing) {
  std::vector<MeasuredWork> measured = measuredOn(knownMachine());
  measured.erase(measured.begin()); // the product
  Machine fitted;
  fitted.cores = 2;
  const absl::Status status = fitSpeeds(measured, fitted);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("products"));
}

TEST(FitMachine, TakesLatencyFromSmallGathersAndBandwidthFromLargeOnes) {
  Machine machine;
  fitLink({1000, 2e-6}, {1e7 + 1000, 1e-3 + 2e-6}, machine);
  EXPECT_DOUBLE_EQ(machine.linkSeconds, 2e-6);
  EXPECT_NEAR(machine.linkBytesPerSecond, 1e10, 1);
}
