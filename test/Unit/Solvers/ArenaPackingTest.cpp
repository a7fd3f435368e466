// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Solvers/ArenaPacking.h"
#include "ds/Plan/Plan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace ds;

namespace {

std::vector<ArenaBuffer> randomBuffers(std::mt19937 &random, size_t count, uint32_t times) {
  std::vector<ArenaBuffer> buffers;
  for (size_t i = 0; i < count; ++i) {
    uint32_t a = random() % times, b = random() % times;
    buffers.push_back({256 * (1 + random() % 8), std::min(a, b), std::max(a, b)});
  }
  return buffers;
}

/// The largest sum of live bytes, by looking at every time.
uint64_t largestLiveSet(const std::vector<ArenaBuffer> &buffers, uint32_t times) {
  uint64_t largest = 0;
  for (uint32_t time = 0; time < times; ++time) {
    uint64_t live = 0;
    for (const ArenaBuffer &buffer : buffers)
      live += buffer.first <= time && time <= buffer.last ? buffer.bytes : 0;
    largest = std::max(largest, live);
  }
  return largest;
}

/// The smallest arena over all orders of placing each buffer as low as it goes: an optimal packing is among them.
uint64_t smallestArena(const std::vector<ArenaBuffer> &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  uint64_t smallest = UINT64_MAX;
  do {
    std::vector<uint64_t> offsets(buffers.size(), 0);
    uint64_t bytes = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const ArenaBuffer &buffer = buffers[order[i]];
      uint64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < i; ++j) {
          const ArenaBuffer &other = buffers[order[j]];
          bool meets = buffer.first <= other.last && other.first <= buffer.last &&
                       offset < offsets[order[j]] + other.bytes && offsets[order[j]] < offset + buffer.bytes;
          if (meets) {
            offset = offsets[order[j]] + other.bytes;
            moved = true;
          }
        }
      }
      offsets[order[i]] = offset;
      bytes = std::max(bytes, offset + buffer.bytes);
    }
    smallest = std::min(smallest, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return smallest;
}

ArenaPacking packingAt(std::vector<uint64_t> offsets, uint64_t bytes) {
  ArenaPacking packing;
  packing.offsets = std::move(offsets);
  packing.bytes = bytes;
  return packing;
}

/// Looks at every pair.
bool overlapsSomewhere(const std::vector<ArenaBuffer> &buffers, const std::vector<uint64_t> &offsets) {
  for (size_t a = 0; a < buffers.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      if (buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last &&
          offsets[a] < offsets[b] + buffers[b].bytes && offsets[b] < offsets[a] + buffers[a].bytes)
        return true;
  return false;
}

TEST(ArenaPacking, PacksNothing) { EXPECT_EQ(packArena({}).bytes, 0u); }

TEST(ArenaPacking, BuffersThatMeetInTimeLieApart) {
  const std::vector<ArenaBuffer> buffers = {{256, 0, 3}, {512, 3, 5}, {256, 4, 6}};
  const ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(findPackingFault(buffers, packing), std::nullopt);
  EXPECT_EQ(packing.bytes, 768u);
}

TEST(ArenaPacking, FindsAnOverlap) {
  const std::vector<ArenaBuffer> buffers = {{256, 0, 3}, {256, 3, 5}, {512, 3, 5}};
  const ArenaPacking packing = packingAt({0, 768, 512}, 1024);
  EXPECT_EQ(findPackingFault(buffers, packing), "buffers 1 and 2 overlap while both are live");
}

TEST(ArenaPacking, FindsABufferBeyondTheEnd) {
  EXPECT_EQ(findPackingFault({{512, 0, 3}}, packingAt({256}, 512)), "buffer 0 must end inside the arena");
  EXPECT_EQ(findPackingFault({{512, 0, 3}}, packingAt({UINT64_MAX - 255}, 512)), "buffer 0 must end inside the arena");
}

TEST(ArenaPacking, FindsAMissingOffset) {
  EXPECT_EQ(findPackingFault({{512, 0, 3}}, packingAt({}, 512)), "a packing must have one offset per buffer");
}

TEST(ArenaPacking, BuffersMayTouch) {
  // Behind each other in the arena, after each other in time, or without bytes.
  const std::vector<ArenaBuffer> buffers = {{256, 0, 3}, {512, 0, 3}, {768, 4, 4}, {256, 5, 9}, {0, 0, 9}};
  EXPECT_EQ(findPackingFault(buffers, packingAt({0, 256, 0, 512, 128}, 768)), std::nullopt);
}

TEST(ArenaPacking, FindsTheFaultsOfAPlainSearch) {
  std::mt19937 random(4);
  int faults = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<ArenaBuffer> buffers = randomBuffers(random, 5, 8);
    std::vector<uint64_t> offsets;
    for (size_t i = 0; i < buffers.size(); ++i)
      offsets.push_back(256 * (random() % 60));
    const bool isFaulty = overlapsSomewhere(buffers, offsets);
    ASSERT_EQ(findPackingFault(buffers, packingAt(offsets, 256 * 68)).has_value(), isFaulty) << "round " << round;
    faults += isFaulty;
  }
  EXPECT_GT(faults, 500);
  EXPECT_LT(faults, 1500);
}

TEST(ArenaPacking, LowerBoundIsTheLargestLiveSet) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::vector<ArenaBuffer> buffers = randomBuffers(random, 40, 30);
    const ArenaPacking packing = packArena(buffers);
    ASSERT_EQ(findPackingFault(buffers, packing), std::nullopt);
    ASSERT_EQ(packing.lowerBound, largestLiveSet(buffers, 30));
    ASSERT_GE(packing.bytes, packing.lowerBound);
    ASSERT_LE(packing.bytes, packing.lowerBound * 3 / 2);
  }
}

TEST(ArenaPacking, IsNearTheBestOfSmallInstances) {
  std::mt19937 random(2);
  uint64_t packed = 0, best = 0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<ArenaBuffer> buffers = randomBuffers(random, 7, 8);
    packed += packArena(buffers).bytes;
    best += smallestArena(buffers);
  }
  EXPECT_GE(packed, best);
  EXPECT_LE(packed, best * 1005 / 1000);
}

TEST(ArenaPacking, IsNearTheBoundOfLargerInstances) {
  std::mt19937 random(3);
  uint64_t packed = 0, bound = 0;
  for (int round = 0; round < 25; ++round) {
    const ArenaPacking packing = packArena(randomBuffers(random, 40, 30));
    packed += packing.bytes;
    bound += packing.lowerBound;
  }
  EXPECT_LE(packed, bound * 1002 / 1000) << "greedy orders alone are 1.4 % above the bound";
}

TEST(ArenaPacking, IsRepeatable) {
  std::mt19937 random(6);
  const std::vector<ArenaBuffer> buffers = randomBuffers(random, 200, 50);
  EXPECT_EQ(packArena(buffers).offsets, packArena(buffers).offsets);
}

TEST(ArenaPacking, ManyBuffersArePackedWithoutASearch) {
  // So many that skylines and repairs end early.
  std::mt19937 random(7);
  std::vector<ArenaBuffer> buffers;
  for (uint32_t i = 0; i < 20'000; ++i) {
    const uint32_t first = random() % 20'000, last = first + random() % 40;
    buffers.push_back({256 * (1 + random() % 64), first, last});
  }
  const ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(findPackingFault(buffers, packing), std::nullopt);
  EXPECT_LE(packing.bytes, packing.lowerBound * 11 / 10);
}

TEST(ArenaPacking, StackedLifetimesArePackedExactly) {
  // Forward values that die in reverse order, as in a backward pass.
  std::vector<ArenaBuffer> buffers;
  for (uint32_t i = 0; i < 100; ++i)
    buffers.push_back({256 * (1 + i % 7), i, 300 - i});
  const ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(packing.bytes, packing.lowerBound);
}

} // namespace
