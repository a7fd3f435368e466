// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels of the plan, and the pool that runs them.

#include "KernelPlan.h"

#include "ds/Runtime/Device/ParallelFor.h"

#include <atomic>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;

TEST(ParallelFor, CallsEachIndexOnce) {
  for (int threads : {1, 2, 3}) {
    setThreads(threads);
    std::vector<std::atomic<int>> calls(1000);
    parallelFor(1000, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const std::atomic<int> &count : calls)
      EXPECT_EQ(count, 1);
  }
  setThreads(1);
}

TEST(ParallelFor, RangesCoverWithoutGaps) {
  setThreads(2);
  for (int64_t count : {0, 1, 7, 1000, 12345}) {
    std::atomic<int64_t> covered{0};
    parallelRanges(count, 10, [&](int64_t begin, int64_t end) { covered += end - begin; });
    EXPECT_EQ(covered, count);
  }
  setThreads(1);
}

TEST(KernelCall, CoversAllRowsAndFinishes) {
  for (int64_t rows : {0, 1, 5, 1003, 50021}) // from 16384 on chunks begin on cache lines
    for (int threads : {1, 2}) {
      KernelPlan program;
      const std::vector<float> x = randomFloats(rows, 7);
      const uint32_t in = program.buffer(x), scaled = program.buffer<float>(rows), partials = program.buffer<float>(4),
                     total = program.buffer<float>(1);
      program.addKernelCall("scale_rows", false, {in, scaled}, {program.extent(rows)}, rows, 3);
      program.addKernelCall("sum_rows", true, {scaled, partials, total}, {}, rows, 4);
      ASSERT_TRUE(program.run(threads).ok());
      const std::vector<float> y = program.read<float>(scaled);
      double sum = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(y[i], 2 * x[i]);
        sum += y[i];
      }
      EXPECT_NEAR(program.read<float>(total)[0], sum, 1e-6 * static_cast<double>(rows + 1000));
    }
}

TEST(NativeKernels, RefusesFeaturesThatTheHostLacks) {
  KernelPlan program;
  program.addKernelCall("count_up", false, {program.buffer<int64_t>(1)}, {}, 1, 1);
  program.plan.objects[0]->features = {"sse2", "+teleport", "-avx9"};
  const absl::Status status = program.start();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("features that this machine lacks: teleport"), std::string::npos) << status;
}

TEST(NativeKernels, NamesAMissingKernel) {
  KernelPlan program;
  program.addKernelCall("no_such_kernel", false, {program.buffer<int64_t>(1)}, {}, 1, 1);
  const absl::Status status = program.start();
  EXPECT_NE(status.message().find("\"no_such_kernel\""), std::string::npos) << status;
}

TEST(NativeKernels, RefusesWhatIsNoSharedObject) {
  KernelPlan program;
  program.addKernelCall("count_up", false, {program.buffer<int64_t>(1)}, {}, 1, 1);
  program.plan.objects[0]->data = {1, 2, 3};
  EXPECT_EQ(program.start().code(), absl::StatusCode::kInvalidArgument);
}
