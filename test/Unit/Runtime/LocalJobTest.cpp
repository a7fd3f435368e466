// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Collective/Local/LocalJob.h"

#include "ForkedRanks.h"

#include "absl/strings/str_cat.h"

namespace ds::runtime {
namespace {

constexpr std::chrono::milliseconds kPatience(20000), kImpatience(50);

/// Runs `body` with the place of each of three ranks; it returns what went wrong.
void expectOnThreeRanks(const std::function<std::string(Job &, const SharedJob &)> &body) {
  const Mesh mesh({{"dp", 3, {}}});
  const absl::StatusOr<SharedJob> shared = SharedJob::create(jobShapeOf(mesh, 4096));
  ASSERT_TRUE(shared.ok()) << shared.status();
  const auto onRank = [&](int64_t rank, Transport &) {
    LocalJob job(*shared, rank, kPatience);
    return body(job, *shared);
  };
  for (const pid_t process : forkRanks(*shared, mesh, onRank))
    EXPECT_EQ(waitForExit(process), 0);
}

TEST(LocalJob, AllRanksEndAtTheStepThatRankZeroNames) {
  expectOnThreeRanks([](Job &job, const SharedJob &shared) -> std::string {
    for (int64_t step = 0; step < 100; ++step) {
      if (step == 40 && job.rank() == 0)
        shared.control().stopRequested.store(1);
      const absl::StatusOr<StepDecision> decision = job.decide(step, /*hasDiverged=*/false);
      if (!decision.ok())
        return std::string(decision.status().message());
      if (*decision != StepDecision::Run)
        return *decision == StepDecision::Stop && step == 40 ? "" : absl::StrCat("ended at step ", step);
    }
    return "never ended";
  });
}

TEST(LocalJob, DivergenceIsToldFromAStop) {
  expectOnThreeRanks([](Job &job, const SharedJob &) -> std::string {
    for (int64_t step = 0; step < 10; ++step) {
      const absl::StatusOr<StepDecision> decision = job.decide(step, /*hasDiverged=*/step == 3);
      if (!decision.ok() || *decision != StepDecision::Run)
        return decision.ok() && *decision == StepDecision::Diverged && step == 3 ? "" : "no divergence at step 3";
    }
    return "never ended";
  });
}

TEST(LocalJob, TheLowestNumberOfEachRoundIsFound) {
  expectOnThreeRanks([](Job &job, const SharedJob &) -> std::string {
    for (int64_t round = 0; round < 50; ++round) {
      const int64_t expected = round % 4 == 3 ? 0 : round % 3; // in each fourth round all are equal
      const absl::StatusOr<int64_t> lowest = job.findLowest(round % 4 == 3 ? 7 : job.rank() == expected ? -round : 1);
      if (!lowest.ok() || *lowest != expected)
        return absl::StrCat("round ", round, " found rank ", lowest.value_or(-1));
    }
    return "";
  });
}

TEST(LocalJob, ARankThatDoesNotComeIsNamed) {
  JobShape shape;
  shape.ranks = 2;
  const absl::StatusOr<SharedJob> shared = SharedJob::create(shape);
  ASSERT_TRUE(shared.ok()) << shared.status();
  LocalJob job(*shared, 0, kImpatience);
  const absl::Status status = job.meet();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "rank 1 must be ready within 0.05 s of rank 0");
  shared->abort();
  EXPECT_EQ(job.meet().code(), absl::StatusCode::kUnavailable);
}

TEST(LocalJob, RanksThatHaveMetAreNotPartedByTheEndOfTheJob) {
  JobShape shape;
  shape.ranks = 2;
  const absl::StatusOr<SharedJob> shared = SharedJob::create(shape);
  ASSERT_TRUE(shared.ok()) << shared.status();
  shared->rankState(1).arrivals.advance(1);
  shared->abort();
  EXPECT_EQ(LocalJob(*shared, 0, kImpatience).meet(), absl::OkStatus());
}

} // namespace
} // namespace ds::runtime
