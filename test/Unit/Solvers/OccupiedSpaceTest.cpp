// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OccupiedSpace.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace ds;

namespace {

struct Taken {
  ByteRange range;
  uint32_t first, last;
};

/// findGap by looking at all that was taken, one after the other.
uint64_t findGapPlainly(std::vector<Taken> all, uint64_t bytes, uint32_t first, uint32_t last) {
  std::sort(all.begin(), all.end(), [](const Taken &a, const Taken &b) { return a.range.begin < b.range.begin; });
  uint64_t end = 0, best = UINT64_MAX, bestRoom = UINT64_MAX;
  for (const Taken &taken : all) {
    if (taken.first > last || first > taken.last)
      continue;
    if (taken.range.begin > end && taken.range.begin - end >= bytes && taken.range.begin - end < bestRoom) {
      best = end;
      bestRoom = taken.range.begin - end;
    }
    end = std::max(end, taken.range.end);
  }
  return best == UINT64_MAX ? end : best;
}

TEST(OccupiedSpace, IsFreeWhereNothingWasTaken) {
  OccupiedSpace space(1);
  EXPECT_EQ(space.findGap(64, 0, 0), 0u);
  space.add({0, 64}, 0, 0);
  EXPECT_EQ(space.findGap(64, 0, 0), 64u);
}

TEST(OccupiedSpace, FindsTheGapsOfAPlainSearch) {
  std::mt19937 random(3);
  for (uint32_t times : {1, 2, 7, 64, 100}) {
    OccupiedSpace space(times);
    std::vector<Taken> all;
    for (int round = 0; round < 500; ++round) {
      const uint32_t a = random() % times, b = random() % times;
      const uint32_t first = std::min(a, b), last = std::max(a, b);
      const uint64_t bytes = 1 + random() % 9;
      const uint64_t offset = space.findGap(bytes, first, last);
      ASSERT_EQ(offset, findGapPlainly(all, bytes, first, last)) << times << " times, round " << round;
      // Also ranges that were not asked for: they overlap others.
      const ByteRange range = round % 5 ? ByteRange{offset, offset + bytes} : ByteRange{offset / 2, offset / 2 + bytes};
      space.add(range, first, last);
      all.push_back({range, first, last});
    }
  }
}

} // namespace
