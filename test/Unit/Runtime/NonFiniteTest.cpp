// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/NonFinite.h"

#include "gtest/gtest.h"

#include <cstring>
#include <limits>
#include <vector>

namespace ds::runtime {

template <typename T> static std::pair<int64_t, int64_t> countsOf(plan::DataType type, const std::vector<T> &values) {
  const NonFiniteCount count = countNonFinite(type, values.data(), static_cast<int64_t>(values.size()));
  return {count.nans, count.infinities};
}

using Counts = std::pair<int64_t, int64_t>;

template <typename T> static std::vector<T> someNumbers() {
  using Limits = std::numeric_limits<T>;
  return {0,
          -T(0),
          1,
          Limits::max(),
          Limits::lowest(),
          Limits::min(),
          Limits::denorm_min(),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          -Limits::quiet_NaN(),
          Limits::signaling_NaN()};
}

TEST(NonFinite, TellsNansFromInfinities) {
  EXPECT_EQ(countsOf(plan::DataType::F32, someNumbers<float>()), Counts(3, 2));
  EXPECT_EQ(countsOf(plan::DataType::F64, someNumbers<double>()), Counts(3, 2));
  EXPECT_EQ(countsOf<float>(plan::DataType::F32, {}), Counts(0, 0));
}

TEST(NonFinite, KnowsBothFormatsOf16Bits) {
  const std::vector<uint16_t> halves = {0x0000, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe00};
  EXPECT_EQ(countsOf(plan::DataType::F16, halves), Counts(2, 2));
  const std::vector<uint16_t> brains = {0x0000, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc0, 0x7c00};
  EXPECT_EQ(countsOf(plan::DataType::BF16, brains), Counts(2, 2));
}

TEST(NonFinite, FindsNoneInIntegers) { EXPECT_EQ(countsOf<int64_t>(plan::DataType::I64, {-1, -100}), Counts(0, 0)); }

} // namespace ds::runtime
