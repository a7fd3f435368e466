// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Solvers/Buckets.h"

#include "gtest/gtest.h"

#include <random>

namespace ds {
namespace {

constexpr BucketLimits kLimits = {100, 12};

std::vector<Bucket> bucketsOf(const std::vector<BucketMember> &members, const BucketLimits &limits = kLimits) {
  const std::vector<Bucket> buckets = formBuckets(members, limits);
  EXPECT_EQ(findBucketFault(members, limits, buckets), std::nullopt);
  return buckets;
}

TEST(Buckets, ABucketIsClosedWhenItHasItsBytes) {
  const std::vector<BucketMember> members = {{0, 0, 60, 1, 20}, {0, 0, 60, 2, 20}, {0, 0, 60, 3, 20}};
  EXPECT_EQ(bucketsOf(members), (std::vector<Bucket>{{0, 1}, {2}}));
}

TEST(Buckets, MembersOfOtherStreamsDoNotCloseOne) {
  const std::vector<BucketMember> members = {{0, 0, 1, 1, 20}, {1, 0, 1, 2, 20}, {0, 0, 1, 3, 20}};
  EXPECT_EQ(bucketsOf(members), (std::vector<Bucket>{{0, 2}, {1}}));
}

TEST(Buckets, MembersOfAnotherKindDo) {
  const std::vector<BucketMember> members = {{0, 0, 1, 1, 20}, {0, 1, 1, 2, 20}, {0, 0, 1, 3, 20}};
  EXPECT_EQ(bucketsOf(members), (std::vector<Bucket>{{0}, {1}, {2}}));
}

TEST(Buckets, NoResultIsNeededBeforeAllInputsAreThere) {
  const std::vector<BucketMember> members = {{0, 0, 1, 1, 4}, {0, 0, 1, 3, 9}, {0, 0, 1, 4, 9}};
  EXPECT_EQ(bucketsOf(members), (std::vector<Bucket>{{0, 1}, {2}}));
}

TEST(Buckets, NoResultWaitsLongerThanTheWindow) {
  const std::vector<BucketMember> members = {{0, 0, 1, 0, 1}, {0, 0, 1, 0, 13}, {0, 0, 1, 0, 14}};
  EXPECT_EQ(bucketsOf(members), (std::vector<Bucket>{{0, 1}, {2}}));
}

TEST(Buckets, RandomOnesAreWithinTheirLimits) {
  std::mt19937 random(1);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % end); };
  for (int round = 0; round < 500; ++round) {
    std::vector<BucketMember> members;
    for (int64_t place = 1; place < 1 + below(60); ++place) {
      const int64_t ready = below(2) ? place : 0;
      members.push_back(
          {static_cast<uint32_t>(below(3)), static_cast<uint32_t>(below(2)), below(80), ready, ready + 1 + below(30)});
    }
    bucketsOf(members, {1 + below(200), below(40)});
  }
}

TEST(Buckets, FaultsAreFound) {
  const std::vector<BucketMember> members = {{0, 0, 60, 1, 20}, {0, 0, 60, 2, 3}, {0, 1, 60, 4, 20}, {1, 1, 60, 4, 40}};
  const auto faultOf = [&](const std::vector<Bucket> &buckets) {
    return findBucketFault(members, kLimits, buckets).value_or("");
  };
  EXPECT_EQ(faultOf({{0}, {1}, {2}}), "member 3 is in no bucket");
  EXPECT_EQ(faultOf({{0}, {1}, {1}}), "bucket 2 has member 1, which is none or another's");
  EXPECT_EQ(faultOf({{0}, {4}}), "bucket 1 has member 4, which is none or another's");
  EXPECT_EQ(faultOf({{1, 2}, {0}, {3}}), "bucket 0 has members of two streams or kinds");
  EXPECT_EQ(faultOf({{2, 3}, {0}, {1}}), "bucket 0 has members of two streams or kinds");
  EXPECT_EQ(faultOf({{0, 1}, {2}, {3}}), "bucket 0 is needed from 3 to 20");
  EXPECT_EQ(findBucketFault({{0, 0, 60, 5, 20}, {0, 0, 60, 2, 5}}, {100}, {{0, 1}}),
            "bucket 0 is complete at 5, but needed at 5");
  EXPECT_EQ(findBucketFault(members, {60}, {{0, 1}, {2}, {3}}), "bucket 0 takes a member though it has 60 bytes");
}

} // namespace
} // namespace ds
