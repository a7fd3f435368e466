// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelPlan.h"

#include "ds/Runtime/LibraryMemory.h"

#include <condition_variable>
#include <mutex>
#include <thread>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;

namespace {
/// A transport whose collectives stop for ever, until it is aborted.
class StuckTransport : public Transport {
public:
  absl::StatusOr<std::unique_ptr<Communicator>> open(uint32_t, uint32_t) override {
    return std::make_unique<Stuck>(*this);
  }
  void abort() override {
    const std::lock_guard<std::mutex> lock(mutex);
    isAborted = true;
    changed.notify_all();
  }

private:
  struct Stuck : Communicator {
    explicit Stuck(StuckTransport &transport) : transport(transport) {}
    int64_t size() const override { return 1; }
    int64_t ownMember() const override { return 0; }
    absl::Status run(const CollectiveCall &) override {
      std::unique_lock<std::mutex> lock(transport.mutex);
      transport.changed.wait(lock, [&] { return transport.isAborted; });
      return absl::AbortedError("a peer gave up");
    }
    absl::Status exchange(absl::Span<const SendPiece>, absl::Span<const ReceivePiece>) override {
      return absl::OkStatus();
    }
    absl::Status barrier() override { return absl::OkStatus(); }
    int64_t waitingForRank() const override { return 7; }

    StuckTransport &transport;
  };

  std::mutex mutex;
  std::condition_variable changed;
  bool isAborted = false;
};
} // namespace

static plan::CollectiveT allReduce(PlanProgram &program, uint32_t buffer, int64_t count) {
  plan::CollectiveT collective;
  collective.kind = plan::CollectiveKind::AllReduce;
  collective.segments.push_back(std::make_unique<plan::SegmentT>());
  plan::SegmentT &segment = *collective.segments[0];
  segment.input = segment.output = buffer;
  segment.whole = program.extent(count);
  return collective;
}

template <typename Marker> static void addMarker(PlanProgram &program, uint32_t queue, uint32_t count = 0) {
  Marker marker;
  if constexpr (std::is_same_v<Marker, plan::LoopBeginT>)
    marker.count = count;
  program.add(std::move(marker), "loop", queue);
}

/// The marks of a log in the order in which they were made.
static std::vector<int64_t> marksOf(const PlanProgram &program, uint32_t log) {
  std::vector<int64_t> all = program.read<int64_t>(log);
  const int64_t count = all[0];
  all.erase(all.begin());
  all.resize(static_cast<size_t>(count));
  return all;
}

TEST(Executor, OrdersTwoQueuesByEvents) {
  KernelPlan program;
  const uint32_t log = program.buffer<int64_t>(1000);
  const uint32_t other = program.addQueue("other", plan::QueueKind::Collective);
  // A chain that goes back and forth: only the events keep it in order.
  for (uint32_t i = 0; i < 50; ++i)
    program.add(program.mark(log, i), "mark", i % 2 ? other : 0,
                i == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{i - 1}, {i});
  std::vector<int64_t> expected;
  for (int step = 0; step < 10; ++step) {
    ASSERT_TRUE(program.run().ok());
    for (int64_t i = 0; i < 50; ++i)
      expected.push_back(i);
    EXPECT_EQ(marksOf(program, log), expected);
  }
  EXPECT_EQ(program.executor->step(), 10);
}

TEST(Executor, RunsTheLoopOnAllQueuesTogether) {
  KernelPlan program;
  const uint32_t log = program.buffer<int64_t>(1000);
  const uint32_t other = program.addQueue("other", plan::QueueKind::Collective);
  program.add(program.mark(log, 1), "before", 0, {}, {0});
  program.add(program.mark(log, 2), "before, other", other, {0}, {1});
  for (uint32_t queue : {0u, other})
    addMarker<plan::LoopBeginT>(program, queue, 3);
  program.add(program.mark(log, 3), "body", 0, {}, {2});
  program.add(program.mark(log, 4), "body, other", other, {2}, {3});
  program.add(program.mark(log, 5), "body, end", 0, {3}, {});
  for (uint32_t queue : {0u, other})
    addMarker<plan::LoopEndT>(program, queue);
  program.add(program.mark(log, 6), "after, other", other, {1}, {4}); // waits for an event from before the loop
  program.add(program.mark(log, 7), "after", 0, {4}, {});
  std::vector<int64_t> expected;
  for (int step = 0; step < 5; ++step) {
    const absl::Status status = program.run();
    ASSERT_TRUE(status.ok()) << status;
    for (int64_t mark : {1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 6, 7})
      expected.push_back(mark);
    EXPECT_EQ(marksOf(program, log), expected);
  }
}

TEST(Executor, MovesViewsByTheLoopIndex) {
  PlanProgram program;
  const std::vector<float> data = randomFloats(12, 1);
  const uint32_t input = program.buffer(data), sum = program.buffer<float>(4);
  addMarker<plan::LoopBeginT>(program, 0, 3);
  plan::CopyT copy;
  copy.extents = program.extents({2, 2});
  copy.type = plan::DataType::F32;
  copy.accumulate = true;
  for (auto *view : {&copy.source, &copy.target}) {
    *view = std::make_unique<plan::ViewT>();
    (*view)->buffer = view == &copy.source ? input : sum;
    for (int16_t loop : {0, 1}) {
      (*view)->dims.push_back(std::make_unique<plan::ViewDimT>());
      (*view)->dims.back()->loop = loop;
      (*view)->dims.back()->extent = program.extent(loop == 0 && view == &copy.source ? 6 : 2);
    }
  }
  copy.source->by_loop_index = true;
  program.add(std::move(copy));
  addMarker<plan::LoopEndT>(program, 0);
  ASSERT_TRUE(program.run().ok());
  for (size_t i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(program.read<float>(sum)[i], data[i] + data[i + 4] + data[i + 8]);
}

TEST(Executor, ReportsAStallInTime) {
  KernelPlan program;
  program.addAxis("dp", 1);
  const uint32_t other = program.addQueue("dp", plan::QueueKind::Collective);
  const uint32_t data = program.buffer<float>(8), counter = program.buffer<int64_t>(1);
  program.add(allReduce(program, data, 8), "all_reduce.3", other, {}, {0});
  program.add(program.kernelCall("count_up", false, {counter}, {}, 1, 1), "adam.1", 0, {0});
  StuckTransport transport;
  absl::Status reported;
  ExecutorOptions options;
  options.timeout = std::chrono::milliseconds(200);
  options.onStall = [&](const absl::Status &status) { reported = status; };
  ASSERT_TRUE(program.start(options, 0, &transport).ok());
  program.executor->setStep(41);
  const auto begun = std::chrono::steady_clock::now();
  const absl::Status status = program.executor->runStep();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_NE(status.message().find("rank 0, step 41, op all_reduce.3: no progress for"), std::string::npos) << status;
  EXPECT_NE(status.message().find("on queue \"dp\", which waits for rank 7"), std::string::npos) << status;
  EXPECT_EQ(program.read<int64_t>(counter)[0], 0) << "what waits for the stalled op must not run";
  EXPECT_EQ(program.executor->runStep().code(), absl::StatusCode::kFailedPrecondition);
  program.executor.reset();
  EXPECT_EQ(reported, status);
}

TEST(Executor, NamesTheOpThatFails) {
  PlanProgram program;
  plan::LibraryCallT gather;
  gather.function = plan::LibraryFunction::GatherRows;
  gather.buffers = {program.buffer<float>(10), program.buffer(std::vector<int64_t>{0, 5}), program.buffer<float>(4)};
  gather.extents = program.extents({5, 2, 2});
  gather.ints = {5};
  program.add(std::move(gather), "embedding.1");
  const absl::Status status = program.run();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "rank 0, step 0, op embedding.1: index at position 1 must be in [-5, 5), got 5");
}

TEST(Executor, CanBeAborted) {
  PlanProgram program;
  program.addAxis("dp", 1);
  program.add(allReduce(program, program.buffer<float>(8), 8), "all_reduce.1");
  StuckTransport transport;
  ASSERT_TRUE(program.start({}, 0, &transport).ok());
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    program.executor->abort();
  });
  EXPECT_EQ(program.executor->runStep().code(), absl::StatusCode::kCancelled);
  other.join();
}

/// Multiplies matrices of `rows` x 64 and 64 x 64, full of `a` and of `b`. Returns the product's buffer.
static uint32_t addProduct(PlanProgram &program, float a, float b, int64_t rows = 64) {
  plan::MatmulT matmul;
  matmul.a = program.buffer(std::vector<float>(rows * 64, a));
  matmul.b = program.buffer(std::vector<float>(64 * 64, b));
  matmul.c = program.buffer<float>(rows * 64);
  matmul.extents = program.extents({rows, 64, 64});
  matmul.a_dims = {0, 2};
  matmul.b_dims = {1, 2};
  matmul.c_dims = {0, 1};
  program.add(matmul);
  return matmul.c;
}

TEST(Executor, RunsStepsOnAnotherThreadThanItWasMadeOn) {
  PlanProgram program;
  const uint32_t c = addProduct(program, 1, 1);
  ASSERT_TRUE(program.start().ok());
  std::thread([&] { EXPECT_TRUE(program.run().ok()); }).join();
  EXPECT_EQ(program.read<float>(c), std::vector<float>(64 * 64, 64.0f));
}

TEST(Executor, FlushesDenormalsInStepsAlone) {
  PlanProgram program;
  volatile float small = 1e-25f, smaller = 1e-18f;
  const uint32_t c = addProduct(program, small, smaller);
  ASSERT_TRUE(program.run(2).ok());
  EXPECT_EQ(program.read<float>(c), std::vector<float>(64 * 64, 0.0f));
  EXPECT_GT(small * smaller, 0);
}

TEST(Executor, TakesTheLibrariesMemoryThatIsTold) {
  PlanProgram program;
  addProduct(program, 1, 1, 2048); // enough rows for B to be packed
  ASSERT_TRUE(program.start().ok());
  const absl::StatusOr<size_t> told = libraryBytes(program.plan, 0, 1);
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_GE(*told, 64 * 64 * sizeof(float));
  EXPECT_EQ(program.executor->libraryBytes(), *told);
}

TEST(Executor, TimesInstructions) {
  KernelPlan program;
  const uint32_t counter = program.buffer<int64_t>(1);
  program.addKernelCall("count_up", false, {counter}, {}, 1, 1);
  ExecutorOptions options;
  options.collectTimings = true;
  ASSERT_TRUE(program.start(options).ok());
  ASSERT_TRUE(program.run().ok());
  const std::vector<InstructionTiming> timings = program.executor->timings();
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].name, "count_up");
  EXPECT_GT(timings[0].seconds, 0);
}

TEST(Executor, RefusesBuffersThatAreTooSmall) {
  PlanProgram program;
  plan::FillT fill;
  fill.buffer = program.buffer<float>(3);
  fill.count = program.extent(4);
  program.add(fill, "fill.1");
  const absl::Status status = program.start();
  EXPECT_EQ(status.message(),
            "rank 0, before the first step, op fill.1: invalid plan: buffer 0 (\"b0\") must hold 4 elements of f32, "
            "got room for 3");
}

TEST(Executor, RefusesAWaitForALaterSection) {
  KernelPlan program;
  const uint32_t log = program.buffer<int64_t>(10);
  program.add(program.mark(log, 1), "too.early", 0, {0});
  addMarker<plan::LoopBeginT>(program, 0, 2);
  program.add(program.mark(log, 2), "body", 0, {}, {0});
  addMarker<plan::LoopEndT>(program, 0);
  EXPECT_NE(program.start().message().find("op too.early: invalid plan: event 0 must be signalled"), std::string::npos);
}

TEST(Executor, TakesExactlyThePlansArena) {
  PlanProgram program;
  program.buffer<float>(1 << 20);
  ASSERT_TRUE(program.start().ok());
  EXPECT_EQ(program.executor->arenaBytes(), (program.plan.arenas[0]->bytes + 4095) / 4096 * 4096);
}
