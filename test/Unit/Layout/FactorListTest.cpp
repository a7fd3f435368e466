// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Reference.h"

#include <gtest/gtest.h>

#include <random>

using namespace ds;
using namespace ds::test;

using Parts = std::vector<DimLayout>;

static Layout oneDim(DimLayout dim) {
  Layout layout;
  layout.dims = {std::move(dim)};
  return layout;
}

TEST(FactorList, UnshardedFactorsSplitFreely) {
  const Mesh mesh = meshOf({2});
  EXPECT_EQ(splitDim({factor(12)}, {3, 4}, mesh), (Parts{{factor(3)}, {factor(4)}}));
  EXPECT_EQ(splitDim({factor(2), factor(6)}, {4, 3}, mesh), (Parts{{factor(4)}, {factor(3)}}));
  EXPECT_EQ(splitDim({factor(12)}, {1, 12, 1}, mesh), (Parts{{factor(1)}, {factor(12)}, {factor(1)}}));
  EXPECT_EQ(splitDim({factor(1)}, {}, mesh), Parts{});
}

TEST(FactorList, FusedHeadsSplitIntoTheirFactors) {
  const Mesh mesh = meshOf({2});
  const DimLayout heads = {factor(3), factor(4, {"a"}), factor(16)};
  EXPECT_EQ(splitDim(heads, {3, 4, 16}, mesh), (Parts{{factor(3)}, {factor(4, {"a"})}, {factor(16)}}));
  EXPECT_EQ(splitDim(heads, {3, 64}, mesh), (Parts{{factor(3)}, {factor(4, {"a"}), factor(16)}}));
  EXPECT_EQ(joinDims({{factor(3)}, {factor(4, {"a"})}, {factor(16)}}), heads);
  EXPECT_EQ(joinDims({}), (DimLayout{factor(1)}));
}

TEST(FactorList, AShardedFactorSplitsOnlyAtItsCuts) {
  const Mesh two = meshOf({2}), three = meshOf({3});
  // 12 over 2: cuts at 6, a multiple of 3 but not of 4. 12 over 3: cuts at 4 and 8.
  EXPECT_EQ(splitDim({factor(12, {"a"})}, {4, 3}, two), (Parts{{factor(4, {"a"})}, {factor(3)}}));
  EXPECT_EQ(splitDim({factor(12, {"a"})}, {3, 4}, two), std::nullopt);
  EXPECT_EQ(splitDim({factor(12, {"a"})}, {3, 4}, three), (Parts{{factor(3, {"a"})}, {factor(4)}}));
  EXPECT_EQ(splitDim({factor(12, {"a"})}, {4, 3}, three), std::nullopt);
  // Columns of 4 heads of 3 over 3 ranks are 4, 4, 4; whole heads are 6, 6, 0.
  EXPECT_EQ(splitDim({factor(4, {"a"}), factor(3)}, {4, 3}, three), (Parts{{factor(4, {"a"})}, {factor(3)}}));
  EXPECT_EQ(splitDim({factor(5, {"a"})}, {1, 5}, two), (Parts{{factor(1)}, {factor(5, {"a"})}}));
}

TEST(FactorList, AFactorThatStraddlesThePartsHasNoSplit) {
  const Mesh mesh = meshOf({2});
  EXPECT_EQ(splitDim({factor(2, {"a"}), factor(3)}, {3, 2}, mesh), std::nullopt);
  EXPECT_EQ(splitDim({factor(3), factor(4, {"a"})}, {2, 6}, mesh), std::nullopt);
  EXPECT_EQ(splitDim({factor(6), factor(2, {"a"})}, {4, 3}, mesh), std::nullopt);
}

TEST(FactorList, WholeDimStandsForTheProduct) {
  const Mesh mesh = meshOf({2});
  EXPECT_EQ(splitDim({factor(kWholeDim, {"a"})}, {4, 3}, mesh), (Parts{{factor(4, {"a"})}, {factor(3)}}));
  EXPECT_EQ(resolvedDim({factor(kWholeDim, {"a"})}, 7), (DimLayout{factor(7, {"a"})}));
}

TEST(FactorList, EmptyDimsSplitUnlessSharded) {
  const Mesh mesh = meshOf({2});
  EXPECT_EQ(splitDim({factor(0)}, {0, 3}, mesh), (Parts{{factor(0)}, {factor(3)}}));
  EXPECT_EQ(splitDim({factor(0, {"a"})}, {0, 3}, mesh), std::nullopt);
}

/// Whether the one factor `n` over `axes` has the same shares as `n1` over `axes` times a whole `n / n1`.
static bool splitsByDefinition(int64_t n, int64_t n1, const AxisList &axes, const Mesh &mesh) {
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    if (referenceIndices(oneDim({factor(n, axes)}), {n}, mesh, rank) !=
        referenceIndices(oneDim({factor(n1, axes), factor(n / n1)}), {n}, mesh, rank))
      return false;
  return true;
}

TEST(FactorList, OneFactorSplitsIffTheSharesStayTheSame) {
  const std::vector<Mesh> meshes = {meshOf({2, 2}), meshOf({2, 3}), meshOf({3, 2}), meshOf({8, 2}),
                                    Mesh({{"a", 2, {1, 2}}, {"b", 3, {1, 1, 2}}})};
  for (const Mesh &mesh : meshes)
    for (const AxisList &axes : {AxisList{"a"}, {"b"}, {"a", "b"}, {"b", "a"}})
      for (int64_t n = 1; n <= 36; ++n)
        for (int64_t n1 = 2; n1 < n; ++n1) {
          if (n % n1 != 0)
            continue;
          ASSERT_EQ(splitDim({factor(n, axes)}, {n1, n / n1}, mesh).has_value(), splitsByDefinition(n, n1, axes, mesh))
              << n << " = " << n1 << " * " << n / n1;
        }
}

TEST(FactorList, SplittingKeepsShares) {
  std::mt19937 random(7);
  const Mesh mesh = meshOf({2, 3});
  const std::vector<AxisList> axes = {{"a"}, {"b"}, {"a", "b"}, {}, {}};
  int numSplit = 0;
  for (int round = 0; round < 3000; ++round) {
    DimLayout dim;
    for (const AxisList &some : {axes[random() % axes.size()], AxisList()})
      dim.push_back(factor(1 + static_cast<int64_t>(random() % 12), some));
    if (random() % 2)
      std::swap(dim[0], dim[1]);
    const int64_t n = dim[0].size * dim[1].size, n1 = 1 + static_cast<int64_t>(random() % n);
    if (n % n1 != 0)
      continue;
    const std::optional<Parts> parts = splitDim(dim, {n1, n / n1}, mesh);
    if (!parts)
      continue;
    ++numSplit;
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      ASSERT_EQ(referenceIndices(oneDim(joinDims(*parts)), {n}, mesh, rank),
                referenceIndices(oneDim(dim), {n}, mesh, rank))
          << oneDim(dim).str() << " at " << n1;
  }
  EXPECT_GT(numSplit, 300);
}

TEST(FactorList, JoinedPartsSplitBack) {
  std::mt19937 random(11);
  const Mesh mesh = meshOf({2, 3, 2});
  for (int round = 0; round < 1000; ++round) {
    Parts parts;
    Shape sizes;
    AxisList unused = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
      DimLayout part;
      for (int j = 0; j < 2; ++j) {
        part.push_back(factor(2 + static_cast<int64_t>(random() % 4)));
        if (!unused.empty() && random() % 2) {
          part.back().axes.push_back(unused.back());
          unused.pop_back();
        }
      }
      sizes.push_back(part[0].size * part[1].size);
      parts.push_back(part);
    }
    const std::optional<Parts> split = splitDim(joinDims(parts), sizes, mesh);
    ASSERT_TRUE(split) << oneDim(joinDims(parts)).str();
    for (size_t i = 0; i < parts.size(); ++i)
      ASSERT_EQ(normalized(oneDim((*split)[i]), {sizes[i]}), normalized(oneDim(parts[i]), {sizes[i]}));
  }
}

TEST(FactorList, ListsAreCutWhereTheOtherIs) {
  const DimLayout major = {factor(2, {"a"}), factor(8)}, minor = {factor(8), factor(2, {"a"})};
  const auto both = commonSpelling(major, minor);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->first, (DimLayout{factor(2, {"a"}), factor(4), factor(2)}));
  EXPECT_EQ(both->second, (DimLayout{factor(2), factor(4), factor(2, {"a"})}));
  EXPECT_FALSE(commonSpelling({factor(4, {"a"}), factor(2)}, {factor(2), factor(4, {"b"})}));
  EXPECT_FALSE(commonSpelling({factor(3), factor(2)}, {factor(2), factor(3)}));
}

TEST(FactorList, AnIntervalHasAxesOnItsMajorFactorAlone) {
  EXPECT_TRUE(isInterval({factor(kWholeDim, {"a", "b"})}));
  EXPECT_TRUE(isInterval({factor(2, {"a"}), factor(8)}));
  EXPECT_FALSE(isInterval({factor(2), factor(8, {"a"})}));
  EXPECT_FALSE(isInterval({factor(2, {"a"}), factor(8, {"b"})}));
}
