// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PlanProgram.h"

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;

namespace {
/// One dim of a view with its extent as a number.
struct Dim {
  int loop;
  int64_t extent, start = 0, step = 1;
};
using View = std::vector<Dim>;
} // namespace

static int64_t countOf(const View &view) {
  int64_t count = 1;
  for (const Dim &dim : view)
    count *= dim.extent;
  return count;
}

static std::unique_ptr<plan::ViewT> makeView(PlanProgram &program, uint32_t buffer, const View &view) {
  auto table = std::make_unique<plan::ViewT>();
  table->buffer = buffer;
  for (const Dim &dim : view) {
    table->dims.push_back(std::make_unique<plan::ViewDimT>());
    table->dims.back()->loop = static_cast<int16_t>(dim.loop);
    table->dims.back()->extent = program.extent(dim.extent);
    table->dims.back()->start = dim.start;
    table->dims.back()->step = dim.step;
  }
  return table;
}

static int64_t placeOf(const View &view, const std::vector<int64_t> &point) {
  int64_t place = 0;
  for (const Dim &dim : view)
    place = place * dim.extent + dim.start + (dim.loop < 0 ? 0 : dim.step * point[static_cast<size_t>(dim.loop)]);
  return place;
}

/// The points of an iteration space, in order.
static std::vector<std::vector<int64_t>> pointsOf(const std::vector<int64_t> &space) {
  std::vector<std::vector<int64_t>> points = {{}};
  for (int64_t size : space) {
    std::vector<std::vector<int64_t>> next;
    for (const std::vector<int64_t> &point : points)
      for (int64_t i = 0; i < size; ++i) {
        next.push_back(point);
        next.back().push_back(i);
      }
    points = std::move(next);
  }
  return points;
}

/// Runs the copy and compares all of the target with a copy point by point.
template <typename T>
static void checkCopy(const std::vector<int64_t> &space, const View &source, const View &target,
                      bool accumulate = false) {
  for (int threads : {1, 2}) {
    PlanProgram program;
    std::vector<T> from(static_cast<size_t>(countOf(source))), to(static_cast<size_t>(countOf(target)), T(100));
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = static_cast<T>(i % 251);
    plan::CopyT copy;
    copy.extents = program.extents(space);
    const uint32_t sourceId = program.buffer(from), targetId = program.buffer(to);
    copy.source = makeView(program, sourceId, source);
    copy.target = makeView(program, targetId, target);
    copy.type = kType<T>;
    copy.accumulate = accumulate;
    program.add(std::move(copy));
    ASSERT_TRUE(program.run(threads).ok());
    for (const std::vector<int64_t> &point : pointsOf(space)) {
      T &element = to[static_cast<size_t>(placeOf(target, point))];
      const T value = from[static_cast<size_t>(placeOf(source, point))];
      element = accumulate ? static_cast<T>(element + value) : value;
    }
    EXPECT_EQ(program.read<T>(targetId), to);
  }
}

TEST(Copy, MovesContiguousBlocks) {
  checkCopy<float>({7, 5, 3}, {{0, 7}, {1, 5}, {2, 3}}, {{0, 7}, {1, 5}, {2, 3}});
  checkCopy<int32_t>({300, 500}, {{0, 300}, {1, 500}}, {{0, 300}, {1, 500}});
  checkCopy<uint8_t>({3, 70001}, {{0, 3}, {1, 70003, 1}}, {{0, 3}, {1, 70002}});
  checkCopy<int64_t>({100, 333}, {{0, 100}, {1, 333}}, {{0, 100}, {1, 333}});
}

TEST(Copy, SlicesAndConcatenates) {
  checkCopy<float>({4, 6}, {{0, 9, 3}, {1, 11, 2}}, {{0, 4}, {1, 6}});
  checkCopy<float>({300, 200}, {{0, 300}, {1, 200}}, {{0, 300}, {1, 517, 301}});
  checkCopy<uint8_t>({5, 6}, {{0, 5}, {1, 13, 1, 2}}, {{0, 5}, {1, 6}});
  checkCopy<double>({5, 6}, {{0, 5, 4, -1}, {1, 6, 5, -1}}, {{0, 5}, {1, 6}});
}

TEST(Copy, Transposes) {
  checkCopy<float>({37, 41}, {{1, 41}, {0, 37}}, {{0, 37}, {1, 41}});
  checkCopy<float>({257, 300}, {{1, 300}, {0, 257}}, {{0, 257}, {1, 300}});
  checkCopy<int32_t>({2, 12, 17, 8}, {{0, 2}, {2, 17}, {1, 12}, {3, 8}}, {{0, 2}, {1, 12}, {2, 17}, {3, 8}});
  checkCopy<float>({3, 35, 4, 33}, {{0, 3}, {3, 33}, {2, 4}, {1, 35}}, {{0, 3}, {1, 35}, {2, 4}, {3, 33}});
  checkCopy<float>({5, 4, 3}, {{2, 3}, {1, 4}, {0, 5}}, {{0, 5}, {1, 4}, {2, 3}});
}

TEST(Copy, BroadcastsAndTakesDiagonals) {
  checkCopy<float>({6, 50}, {{1, 50}}, {{0, 6}, {1, 50}});
  checkCopy<float>({6, 50}, {{0, 6}}, {{0, 6}, {1, 50}});
  checkCopy<float>({6, 5}, {{-1, 3, 2}}, {{0, 6}, {1, 5}});
  checkCopy<float>({6}, {{0, 6}, {0, 6}}, {{0, 6}});
  checkCopy<float>({}, {{-1, 4, 3}}, {});
}

TEST(Copy, Accumulates) {
  checkCopy<float>({37, 41}, {{1, 41}, {0, 37}}, {{0, 37}, {1, 41}}, true);
  checkCopy<int64_t>({70, 300}, {{0, 70}, {1, 300}}, {{0, 70}, {1, 300}}, true);
}

TEST(Copy, OfNothingTouchesNothing) {
  checkCopy<float>({0, 5}, {{0, 0}, {1, 5}}, {{0, 3}, {1, 5}});
  checkCopy<float>({5, 0}, {{0, 5}, {1, 3}}, {{0, 5}, {1, 0}});
}

TEST(Copy, RefusesViewsThatLeaveTheirBuffer) {
  PlanProgram program;
  plan::CopyT copy;
  copy.extents = program.extents({4});
  copy.source = makeView(program, program.buffer<float>(6), {{0, 6, 3}});
  copy.target = makeView(program, program.buffer<float>(4), {{0, 4}});
  program.add(std::move(copy), "slice.1");
  const absl::Status status = program.start();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("op slice.1: invalid plan: view must stay in [0, 6), got coordinates from 3 to 6"),
            std::string::npos)
      << status;
}

TEST(Fill, WritesEachWidth) {
  PlanProgram program;
  const uint32_t floats = program.buffer<float>(40001), bytes = program.buffer<uint8_t>(3),
                 longs = program.buffer<int64_t>(0);
  const auto fill = [&](uint32_t buffer, int64_t count, plan::DataType type, uint64_t bits) {
    plan::FillT table;
    table.buffer = buffer;
    table.count = program.extent(count);
    table.type = type;
    table.bits = bits;
    program.add(table);
  };
  fill(floats, 40001, plan::DataType::F32, 0x3FC00000);
  fill(bytes, 2, plan::DataType::Bool, 1);
  fill(longs, 0, plan::DataType::I64, 5);
  ASSERT_TRUE(program.run(2).ok());
  EXPECT_EQ(program.read<float>(floats), std::vector<float>(40001, 1.5f));
  EXPECT_EQ(program.read<uint8_t>(bytes), (std::vector<uint8_t>{1, 1, 0}));
}
