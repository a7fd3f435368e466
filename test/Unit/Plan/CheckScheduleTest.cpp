// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SmallPlan.h"

#include "ds/Plan/Check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <random>

using namespace ds;
using namespace ds::plan;
using testing::HasSubstr;

static std::string faultOf(const TestPlan &builder) {
  absl::Status status = check(builder.plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

static InstructionT &instruction(TestPlan &builder, size_t queue, size_t index) {
  return *builder.plan.queues[queue]->instructions[index];
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

TEST(CheckEvents, eachIsSignalledOnce) {
  TestPlan builder = smallPlan();
  instruction(builder, 0, 1).signals = {1};
  EXPECT_THAT(faultOf(builder), HasSubstr("event 1 must be signalled once, got instruction \"op2\" (1 on queue "
                                          "\"compute\") and instruction \"op1\" (0 on queue \"dp\")"));
}

TEST(CheckEvents, missingSignalIsFound) {
  TestPlan builder = smallPlan();
  instruction(builder, 1, 0).signals = {};
  EXPECT_THAT(faultOf(builder), HasSubstr("each event must be signalled once, got 1 signals for 2 events"));
  instruction(builder, 1, 0).signals = {0};
  instruction(builder, 0, 0).signals = {0};
  EXPECT_THAT(faultOf(builder), HasSubstr("event 0 must be signalled once"));
  builder.plan.events = UINT32_MAX;
  EXPECT_THAT(faultOf(builder), HasSubstr("signals for 4294967295 events"));
}

TEST(CheckEvents, mustExist) {
  TestPlan builder = smallPlan();
  instruction(builder, 0, 1).waits = {5};
  EXPECT_THAT(faultOf(builder), HasSubstr("waits for unknown event 5"));
  instruction(builder, 0, 1).waits = {1};
  instruction(builder, 0, 1).signals = {5};
  EXPECT_THAT(faultOf(builder), HasSubstr("signals unknown event 5"));
}

//===----------------------------------------------------------------------===//
// Deadlock and order
//===----------------------------------------------------------------------===//

TEST(CheckDeadlock, cycleIsNamed) {
  TestPlan builder = smallPlan();
  // The fill waits for the gather, which waits for the fill.
  instruction(builder, 0, 0).waits = {1};
  EXPECT_THAT(faultOf(builder),
              HasSubstr("deadlock: instruction \"op0\" (0 on queue \"compute\") waits for instruction \"op1\" (0 on "
                        "queue \"dp\") waits for the first"));
}

TEST(CheckDeadlock, cycleThroughAQueueIsFound) {
  TestPlan builder = smallPlan();
  // The fill waits for something behind it on its own queue.
  builder.plan.events = 3;
  instruction(builder, 0, 1).signals = {2};
  instruction(builder, 0, 0).waits = {2};
  EXPECT_THAT(faultOf(builder), HasSubstr("deadlock: "));
}

TEST(CheckDeadlock, selfWaitIsFound) {
  TestPlan builder = smallPlan();
  instruction(builder, 0, 0).waits = {0};
  EXPECT_THAT(faultOf(builder),
              HasSubstr("deadlock: instruction \"op0\" (0 on queue \"compute\") waits for the first"));
}

TEST(CheckOrder, isUnique) {
  TestPlan builder = smallPlan();
  size_t other = builder.queue("other");
  builder.add(other, builder.fill(builder.buffer("x", 768, 256, {0, 9}), 1)).order = 1;
  EXPECT_THAT(faultOf(builder), HasSubstr("have the same order 1"));
}

TEST(CheckOrder, ascendsOnEachQueue) {
  TestPlan builder = smallPlan();
  std::swap(instruction(builder, 0, 0).order, instruction(builder, 0, 1).order);
  EXPECT_THAT(faultOf(builder),
              HasSubstr("instruction \"op2\" (1 on queue \"compute\") must have an order above 2, got 0"));
}

TEST(CheckOrder, ascendsFromSignalToWait) {
  TestPlan builder = smallPlan();
  instruction(builder, 1, 0).order = 7;
  builder.plan.buffers[0]->last = builder.plan.buffers[1]->last = 7;
  EXPECT_THAT(faultOf(builder), HasSubstr("which must have a lower order, got 7"));
}

TEST(CheckGroups, oneAxisIsOnOneQueue) {
  TestPlan builder = smallPlan();
  uint32_t again = builder.buffer("again", 768, 256, {3, 3});
  builder.plan.buffers[0]->last = 3;
  builder.add(0, builder.collective(CollectiveKind::AllGather, 0, {0, again}, 1));
  EXPECT_THAT(faultOf(builder),
              HasSubstr("collectives over axis \"dp\" must be on one queue, got instruction \"op3\" (2 "
                        "on queue \"compute\") and instruction \"op1\" (0 on queue \"dp\")"));
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

TEST(CheckRaces, readNeedsTheWriteBeforeIt) {
  TestPlan builder = smallPlan();
  instruction(builder, 0, 1).waits = {};
  EXPECT_THAT(faultOf(builder), HasSubstr("race: instruction \"op1\" (0 on queue \"dp\") and instruction \"op2\" (1 on "
                                          "queue \"compute\") both use the bytes of buffer 1 \"whole\""));
}

TEST(CheckRaces, reusedBytesNeedTheirLastReader) {
  // The gather reads buffer 0 while a fill writes buffer 3 in the same bytes: dead in the schedule's order, not in
  // time.
  TestPlan builder = smallPlan();
  builder.plan.queues[0]->instructions.pop_back();
  builder.plan.buffers[1]->last = 9;
  uint32_t reuse = builder.buffer("reuse", 0, 256, {9, 9});
  builder.add(0, builder.fill(reuse, 1)).order = 9;
  EXPECT_THAT(faultOf(builder), HasSubstr("race: "));
  instruction(builder, 0, 1).waits = {1};
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
}

TEST(CheckRaces, happensBeforeIsTransitive) {
  // compute -> dp -> third; the third queue reads what compute wrote and waits for dp only.
  TestPlan builder = smallPlan();
  builder.plan.events = 3;
  instruction(builder, 1, 0).signals = {1, 2};
  builder.plan.buffers[0]->last = 3;
  size_t third = builder.queue("third");
  builder.add(third, builder.toPartial(0, builder.buffer("copy", 768, 256, {3, 3}), 0), {2});
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  instruction(builder, 2, 0).waits = {};
  EXPECT_THAT(faultOf(builder), HasSubstr("race: "));
}

TEST(CheckRaces, twoReadersAreNoRace) {
  TestPlan builder = smallPlan();
  builder.plan.events = 3;
  instruction(builder, 1, 0).signals = {1, 2};
  builder.plan.buffers[1]->last = 3;
  size_t third = builder.queue("third");
  builder.add(third, builder.toPartial(1, builder.buffer("copy", 768, 256, {3, 3}), 1), {2});
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Two queues; `sum` is filled, then gathered shards are added to it in each of 3 iterations, then it is copied.
/// Buffers 0: shard, 1: whole, 2: sum, 3: result. Orders: fill 0, begins 1 2, fill 3, gather 4, kernel 5, ends 6 7,
/// copy 8.
static TestPlan planWithLoop() {
  TestPlan builder({{"dp", 2, {}}});
  builder.arena(2048);
  uint32_t shard = builder.buffer("shard", 0, 256, {3, 4}), whole = builder.buffer("whole", 256, 256, {4, 5});
  uint32_t sum = builder.buffer("sum", 512, 256, {0, 8}), result = builder.buffer("result", 768, 256, {8, 8});
  uint32_t ten = builder.extent(constantExtent(10));
  size_t compute = builder.queue("compute"), network = builder.queue("dp", QueueKind::Collective);
  builder.plan.kernels.push_back(std::make_unique<KernelT>());
  builder.plan.kernels[0]->symbol = "add";
  builder.plan.events = 2;
  LoopBeginT begin;
  begin.count = 3;
  KernelCallT add;
  add.buffers = {whole, sum};
  add.first_output = 1;
  add.chunks = 1;
  builder.add(compute, builder.fill(sum, ten));
  builder.add(compute, begin);
  builder.add(network, begin);
  builder.add(compute, builder.fill(shard, ten), {}, {0});
  builder.add(network, builder.collective(CollectiveKind::AllGather, 0, {shard, whole}, ten), {0}, {1});
  builder.add(compute, add, {1});
  builder.add(compute, LoopEndT());
  builder.add(network, LoopEndT());
  builder.add(compute, builder.toPartial(sum, result, ten));
  return builder;
}

TEST(CheckLoops, loopIsAccepted) { EXPECT_EQ(check(planWithLoop().plan), absl::OkStatus()); }

TEST(CheckLoops, mustBeEqualOnAllQueues) {
  TestPlan builder = planWithLoop();
  static_cast<LoopBeginT *>(instruction(builder, 1, 0).operation.value)->count = 4;
  EXPECT_THAT(faultOf(builder), HasSubstr("must run as often as the loops of the other queues, 3, got 4"));
  builder = planWithLoop();
  builder.queue("idle");
  EXPECT_THAT(faultOf(builder), HasSubstr("the loop must be on every queue, got it on 2 of 3"));
}

TEST(CheckLoops, mustBePaired) {
  TestPlan builder = planWithLoop();
  builder.plan.queues[1]->instructions.pop_back();
  EXPECT_THAT(faultOf(builder), HasSubstr("queue \"dp\" has a loop_begin without loop_end"));
  builder = planWithLoop();
  builder.add(0, LoopEndT());
  EXPECT_THAT(faultOf(builder), HasSubstr("must follow a loop_begin"));
  builder = planWithLoop();
  builder.add(0, LoopBeginT());
  EXPECT_THAT(faultOf(builder), HasSubstr("must be the only loop_begin of its queue"));
}

TEST(CheckLoops, eventsDoNotCrossThem) {
  TestPlan builder = planWithLoop();
  instruction(builder, 0, 5).waits = {1};
  EXPECT_THAT(faultOf(builder), HasSubstr("must wait for events of its own side of the loop, got event 1"));
  builder = planWithLoop();
  instruction(builder, 1, 0).waits = {0};
  EXPECT_THAT(faultOf(builder), HasSubstr("must have no events: all queues meet there"));
}

TEST(CheckLoops, barriersOrderQueues) {
  // The other queue reads the sum behind the loop without an event.
  TestPlan builder = planWithLoop();
  builder.plan.queues[1]->instructions.push_back(std::move(builder.plan.queues[0]->instructions.back()));
  builder.plan.queues[0]->instructions.pop_back();
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
}

TEST(CheckLoops, orderFollowsTheMarkers) {
  TestPlan builder = planWithLoop();
  instruction(builder, 1, 2).order = 9; // the other queue's LoopEnd behind the copy that follows the loop
  EXPECT_THAT(faultOf(builder), HasSubstr("must have an order below that of instruction \"op8\""));
}

TEST(CheckLoops, whatEntersThemLivesThroughThem) {
  // The kernel inside reads `early`, which was written before the loop; `late` takes its bytes later in the body.
  TestPlan builder = planWithLoop();
  uint32_t early = builder.buffer("early", 1024, 256, {0, 4}), late = builder.buffer("late", 1024, 256, {5, 5});
  auto *sum = static_cast<FillT *>(instruction(builder, 0, 0).operation.value);
  sum->buffer = early;
  instruction(builder, 0, 2).operation.Set(builder.toPartial(early, 0, 0));
  auto *add = static_cast<KernelCallT *>(instruction(builder, 0, 3).operation.value);
  add->buffers = {1, late, 2};
  EXPECT_THAT(faultOf(builder), HasSubstr("buffers 4 and 5 overlap while both are live"));
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

/// Random programs of fills and copies on a few queues: check() must find a race iff brute force over all pairs does.
TEST(CheckRaces, agreesWithBruteForce) {
  std::mt19937 random(1);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  size_t races = 0;
  for (int trial = 0; trial < 500; ++trial) {
    constexpr uint32_t kSteps = 12, kQueues = 3, kBuffers = 3;
    TestPlan builder({{"dp", 2, {}}});
    builder.arena(kBuffers * 256);
    uint32_t one = builder.extent(constantExtent(1));
    for (uint32_t i = 0; i < kBuffers; ++i)
      builder.buffer("b", i * 256, 256, {0, kSteps});
    for (uint32_t i = 0; i < kQueues; ++i)
      builder.queue("q");
    builder.plan.events = kSteps;
    std::vector<uint32_t> queueOf, target, source; // source == kBuffers: a fill
    std::vector<std::vector<bool>> before(kSteps, std::vector<bool>(kSteps, false));
    for (uint32_t i = 0; i < kSteps; ++i) {
      queueOf.push_back(i < kBuffers ? 0 : below(kQueues));
      target.push_back(i < kBuffers ? i : below(kBuffers));
      source.push_back(i < kBuffers ? kBuffers : below(kBuffers + 1));
      if (source[i] == target[i])
        source[i] = kBuffers;
      std::vector<uint32_t> waits;
      for (uint32_t j = 0; j < i; ++j) {
        if (below(3) != 0)
          waits.push_back(j);
        if (queueOf[j] == queueOf[i] || (!waits.empty() && waits.back() == j))
          for (uint32_t k = 0; k <= j; ++k)
            before[k][i] = before[k][i] || k == j || before[k][j];
      }
      if (source[i] == kBuffers)
        builder.add(queueOf[i], builder.fill(target[i], one), waits, {i});
      else
        builder.add(queueOf[i], builder.toPartial(source[i], target[i], one), waits, {i});
    }
    bool hasRace = false;
    for (uint32_t i = 0; i < kSteps; ++i)
      for (uint32_t j = 0; j < i; ++j)
        hasRace |= !before[j][i] && (target[i] == target[j] || target[i] == source[j] || source[i] == target[j]);
    absl::Status status = check(builder.plan);
    EXPECT_EQ(status.ok(), !hasRace) << status << " in trial " << trial;
    races += hasRace;
  }
  EXPECT_GT(races, 50u);
  EXPECT_LT(races, 450u);
}

TEST(CheckSpeed, hundredThousandInstructionsTakeSeconds) {
  constexpr uint32_t kLayers = 25000;
  TestPlan builder({{"dp", 8, {}}});
  builder.arena(uint64_t(kLayers) * 1024);
  ds::Layout split = ds::Layout::replicated(1);
  split.dims[0][0].axes = {"dp"};
  uint32_t part = builder.extent(dimExtent(split, {61}, 0, meshOf(builder.plan)));
  uint32_t whole = builder.extent(constantExtent(61));
  size_t compute = builder.queue("compute"), network = builder.queue("dp", QueueKind::Collective);
  builder.plan.events = 2 * kLayers;
  for (uint32_t i = 0; i < kLayers; ++i) {
    uint32_t base = 4 * i;
    uint64_t slot = i % 64 * 1024; // used again and again
    uint32_t a = builder.buffer("a", slot, 256, {base, base + 1});
    uint32_t b = builder.buffer("b", slot + 256, 256, {base + 1, base + 2});
    uint32_t c = builder.buffer("c", slot + 512, 256, {base + 2, base + 3});
    builder.add(compute, builder.fill(a, part), {}, {2 * i});
    builder.add(network, builder.collective(CollectiveKind::AllGather, 0, {a, b}, whole), {2 * i}, {2 * i + 1});
    builder.add(compute, builder.toPartial(b, c, whole), {2 * i + 1});
    builder.add(compute, builder.toPartial(c, c, whole));
  }
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(check(builder.plan), absl::OkStatus());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
  EXPECT_LT(seconds, 5) << "100,000 instructions";
}
