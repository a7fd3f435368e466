// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SkylineOrder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace ds;

namespace {

using Order = std::vector<uint32_t>;

constexpr uint64_t kAnySteps = UINT64_MAX;

TEST(SkylineOrder, OfNothingIsEmpty) { EXPECT_EQ(findSkylineOrder({}, 0, SkylineRule::MostFlush, kAnySteps), Order()); }

TEST(SkylineOrder, LargestAreaComesFirst) {
  const std::vector<ArenaBuffer> buffers = {{256, 0, 9}, {1024, 2, 5}};
  EXPECT_EQ(findSkylineOrder(buffers, 10, SkylineRule::LargestArea, kAnySteps), Order({1, 0}));
}

TEST(SkylineOrder, MostFlushComesFirst) {
  const std::vector<ArenaBuffer> buffers = {{256, 1, 8}, {1024, 0, 5}, {256, 0, 9}};
  // 2 fills all times; on it 1 begins with them; then the lowest part is [6, 9], and nothing else fits.
  EXPECT_EQ(findSkylineOrder(buffers, 10, SkylineRule::MostFlush, kAnySteps), Order({2, 1, 0}));
}

TEST(SkylineOrder, TheLowestPartIsFilledFirst) {
  // 0 leaves [4, 9] as the lowest part: 2 fits there, 1 must wait until all times are as high.
  const std::vector<ArenaBuffer> buffers = {{2048, 0, 3}, {1024, 3, 9}, {256, 5, 6}};
  EXPECT_EQ(findSkylineOrder(buffers, 10, SkylineRule::LargestArea, kAnySteps), Order({0, 2, 1}));
}

TEST(SkylineOrder, HoldsEachBufferOnce) {
  std::mt19937 random(5);
  for (SkylineRule rule : {SkylineRule::LargestArea, SkylineRule::MostFlush}) {
    for (int round = 0; round < 100; ++round) {
      std::vector<ArenaBuffer> buffers;
      for (int i = 0; i < 30; ++i) {
        const uint32_t a = random() % 12, b = random() % 12;
        buffers.push_back({256 * (random() % 4), std::min(a, b), std::max(a, b)});
      }
      std::optional<Order> order = findSkylineOrder(buffers, 12, rule, kAnySteps);
      ASSERT_TRUE(order);
      std::sort(order->begin(), order->end());
      Order all(buffers.size());
      for (uint32_t id = 0; id < all.size(); ++id)
        all[id] = id;
      ASSERT_EQ(*order, all);
    }
  }
}

TEST(SkylineOrder, EndsWithItsSteps) {
  const std::vector<ArenaBuffer> buffers(1000, {256, 0, 999});
  EXPECT_EQ(findSkylineOrder(buffers, 1000, SkylineRule::MostFlush, 10'000), std::nullopt);
  EXPECT_NE(findSkylineOrder(buffers, 1000, SkylineRule::MostFlush, 10'000'000), std::nullopt);
}

} // namespace
