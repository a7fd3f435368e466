// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Iota, gathers, scatters and top-k against loops that follow their definitions.

#include "LibraryPlan.h"

#include <algorithm>
#include <limits>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;
using plan::LibraryFunction;

namespace {
/// The part of [0, n) that rank `rank` of two owns.
struct Part {
  int64_t begin, length;
};
} // namespace

static Part partOf(int64_t n, int64_t rank) {
  const int64_t block = (n + 1) / 2, begin = std::min(n, rank * block);
  return {begin, std::min(n, begin + block) - begin};
}

TEST(Iota, CountsGlobally) {
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t n : {0, 1, 5}) {
      LibraryPlan program;
      program.addAxis("dp", 2);
      const Part part = partOf(n, rank);
      const uint32_t longs = program.buffer<int64_t>(2 * part.length * 3),
                     floats = program.buffer<float>(2 * part.length * 3);
      const uint32_t outer = program.extent(2), middle = program.splitExtent(n, 0), inner = program.extent(3);
      program.addCall(LibraryFunction::Iota, plan::DataType::I64, {longs}, {outer, middle, inner}, {});
      program.addCall(LibraryFunction::Iota, plan::DataType::F32, {floats}, {outer, middle, inner}, {10, -2});
      ASSERT_TRUE(program.start({}, rank).ok());
      ASSERT_TRUE(program.run().ok());
      const std::vector<int64_t> got = program.read<int64_t>(longs);
      for (size_t i = 0; i < got.size(); ++i) {
        const int64_t number = part.begin + static_cast<int64_t>(i) / 3 % part.length;
        EXPECT_EQ(got[i], number);
        EXPECT_EQ(program.read<float>(floats)[i], static_cast<float>(10 - 2 * number));
      }
    }
}

TEST(GatherRows, GivesZerosForOtherRanksRows) {
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t count : {0, 1, 3001}) {
      LibraryPlan program;
      program.addAxis("tp", 2);
      const int64_t rows = 37, width = 19;
      const Part part = partOf(rows, rank);
      const std::vector<float> table = randomFloats(part.length * width, 1);
      const std::vector<int64_t> ids = randomIndices(count, -rows, rows, 2);
      const uint32_t out = program.buffer<float>(count * width);
      program.addCall(LibraryFunction::GatherRows, plan::DataType::F32,
                      {program.buffer(table), program.buffer(ids), out},
                      {program.splitExtent(rows, 0), program.extent(width), program.extent(count)}, {rows});
      ExecutorOptions options;
      options.threads = 2;
      ASSERT_TRUE(program.start(options, rank).ok());
      ASSERT_TRUE(program.run(2).ok());
      const std::vector<float> got = program.read<float>(out);
      for (int64_t i = 0; i < count * width; ++i) {
        const int64_t id = ids[size_t(i / width)], row = (id < 0 ? id + rows : id) - part.begin;
        EXPECT_EQ(got[size_t(i)], row < 0 || row >= part.length ? 0 : table[size_t(row * width + i % width)]);
      }
    }
}

/// The scatter-add of rank `rank` of two, by its definition.
static std::vector<float> scatterRows(const std::vector<int64_t> &ids, const std::vector<float> &updates, int64_t rows,
                                      int64_t width, Part part) {
  std::vector<float> out(size_t(part.length * width), 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t row = (ids[i] < 0 ? ids[i] + rows : ids[i]) - part.begin;
    for (int64_t column = 0; row >= 0 && row < part.length && column < width; ++column)
      out[size_t(row * width + column)] += updates[i * size_t(width) + size_t(column)];
  }
  return out;
}

/// Rank `rank`'s half of `rows` rows, of updates for `distinct` of them.
static void checkScatter(int64_t rows, int64_t rank, int64_t width, int64_t count, int64_t distinct, int threads) {
  LibraryPlan program;
  program.addAxis("tp", 2);
  const std::vector<int64_t> ids = randomIndices(count, -distinct / 2, distinct / 2, 5);
  const std::vector<float> updates = randomFloats(count * width, 6);
  const Part part = partOf(rows, rank);
  const uint32_t out = program.buffer(randomFloats(part.length * width, 7));
  program.addCall(LibraryFunction::ScatterAddRows, plan::DataType::F32,
                  {program.buffer(ids), program.buffer(updates), out},
                  {program.splitExtent(rows, 0), program.extent(width), program.extent(count)}, {rows});
  ExecutorOptions options;
  options.threads = threads;
  ASSERT_TRUE(program.start(options, rank).ok());
  ASSERT_TRUE(program.run().ok());
  EXPECT_EQ(program.read<float>(out), scatterRows(ids, updates, rows, width, part));
}

TEST(ScatterAddRows, AddsInOrderOnAnyNumberOfThreads) {
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t width : {1, 33, 300})
      for (auto [count, distinct] : {std::pair<int64_t, int64_t>(0, 16), {5, 16}, {2000, 16}, {2000, 2}})
        for (int threads : {1, 2, 3})
          checkScatter(1001, rank, width, count, distinct, threads);
}

TEST(ScatterAddRows, StoresLargeResultsPastTheCaches) {
  for (int64_t rank = 0; rank < 2; ++rank)
    checkScatter(30001, rank, 300, 20000, 30000, 2); // 17 MiB a rank
}

TEST(Elements, GatherAndScatterAreOnnx) {
  struct Case {
    int64_t outer, n, m, inner;
  };
  for (const Case &test :
       {Case{3, 7, 5, 4}, {1, 100, 1, 1}, {200, 50, 1, 1}, {2, 3, 9, 300}, {0, 3, 2, 2}, {2, 3, 0, 2}})
    for (int threads : {1, 2})
      for (bool add : {false, true}) {
        LibraryPlan program;
        const int64_t elements = test.outer * test.m * test.inner, size = test.outer * test.n * test.inner;
        const std::vector<float> data = randomFloats(size, 1), updates = randomFloats(elements, 2);
        const std::vector<int64_t> indices = randomIndices(elements, -test.n, test.n, 3);
        const uint32_t indexBuffer = program.buffer(indices), gathered = program.buffer<float>(elements),
                       scattered = program.buffer(data);
        const std::vector<uint32_t> extents = program.extents({test.outer, test.n, test.m, test.inner});
        program.addCall(LibraryFunction::GatherElements, plan::DataType::F32,
                        {program.buffer(data), indexBuffer, gathered}, extents, {test.n});
        program.addCall(LibraryFunction::ScatterElements, plan::DataType::F32,
                        {indexBuffer, program.buffer(updates), scattered}, extents, {test.n, add});
        ASSERT_TRUE(program.run(threads).ok());
        std::vector<float> expectedGather(size_t(elements), 0), expectedScatter(size_t(size), 0);
        for (int64_t i = 0; i < elements; ++i) {
          const int64_t index = indices[size_t(i)] < 0 ? indices[size_t(i)] + test.n : indices[size_t(i)];
          const size_t at = size_t((i / (test.m * test.inner) * test.n + index) * test.inner + i % test.inner);
          expectedGather[size_t(i)] = data[at];
          expectedScatter[at] = add ? expectedScatter[at] + updates[size_t(i)] : updates[size_t(i)];
        }
        EXPECT_EQ(program.read<float>(gathered), expectedGather);
        EXPECT_EQ(program.read<float>(scattered), expectedScatter);
      }
}

TEST(Elements, GatherOverASplitDimGivesZerosElsewhere) {
  LibraryPlan program;
  program.addAxis("tp", 2);
  const uint32_t out = program.buffer<float>(4);
  program.addCall(LibraryFunction::GatherElements, plan::DataType::F32,
                  {program.buffer(std::vector<float>{3, 4}), program.buffer(std::vector<int64_t>{0, 4, 3, -2}), out},
                  {program.extent(1), program.splitExtent(5, 0), program.extent(4), program.extent(1)}, {5});
  ASSERT_TRUE(program.start({}, 1).ok()); // which has elements 3 and 4
  ASSERT_TRUE(program.run().ok());
  EXPECT_EQ(program.read<float>(out), (std::vector<float>{0, 4, 3, 3}));
}

TEST(TopK, OrdersTiesAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  LibraryPlan program;
  const uint32_t data = program.buffer(std::vector<float>{1, 5, nan, 5, -2, 0}), values = program.buffer<float>(4),
                 indices = program.buffer<int64_t>(4), least = program.buffer<float>(6),
                 leastIndices = program.buffer<int64_t>(6);
  const std::vector<uint32_t> extents = program.extents({1, 6, 1});
  program.addCall(LibraryFunction::TopK, plan::DataType::F32, {data, values, indices}, extents, {4, 1});
  program.addCall(LibraryFunction::TopK, plan::DataType::F32, {data, least, leastIndices}, extents, {6, 0});
  ASSERT_TRUE(program.run().ok());
  EXPECT_EQ(program.read<int64_t>(indices), (std::vector<int64_t>{2, 1, 3, 0}));
  EXPECT_TRUE(std::isnan(program.read<float>(values)[0]));
  EXPECT_EQ(program.read<float>(values)[1], 5);
  EXPECT_EQ(program.read<int64_t>(leastIndices), (std::vector<int64_t>{4, 5, 0, 1, 3, 2}));
}

TEST(TopK, WorksAlongAnyDim) {
  for (int threads : {1, 2})
    for (int64_t k : {0, 1, 9}) {
      LibraryPlan program;
      const int64_t outer = 5, n = 9, inner = 7;
      std::vector<int64_t> data = randomIndices(outer * n * inner, 0, 4, 1);
      const uint32_t values = program.buffer<int64_t>(outer * k * inner),
                     indices = program.buffer<int64_t>(outer * k * inner);
      program.addCall(LibraryFunction::TopK, plan::DataType::I64, {program.buffer(data), values, indices},
                      program.extents({outer, n, inner}), {k, 1});
      ASSERT_TRUE(program.run(threads).ok());
      for (int64_t lane = 0; lane < outer * inner; ++lane) {
        const auto at = [&](int64_t i) { return data[size_t((lane / inner * n + i) * inner + lane % inner)]; };
        std::vector<std::pair<int64_t, int64_t>> sorted;
        for (int64_t i = 0; i < n; ++i)
          sorted.emplace_back(-at(i), i);
        std::sort(sorted.begin(), sorted.end());
        for (int64_t i = 0; i < k; ++i) {
          const size_t place = size_t((lane / inner * k + i) * inner + lane % inner);
          EXPECT_EQ(program.read<int64_t>(values)[place], -sorted[size_t(i)].first);
          EXPECT_EQ(program.read<int64_t>(indices)[place], sorted[size_t(i)].second);
        }
      }
    }
}

TEST(Library, RefusesWrongNumbersOfArguments) {
  LibraryPlan program;
  program.addCall(LibraryFunction::GatherRows, plan::DataType::F32, {0, 0}, {}, {});
  program.buffer<float>(1);
  EXPECT_NE(program.start().message().find("gather_rows must have 3 buffers, got 2"), std::string::npos)
      << program.start();
}
