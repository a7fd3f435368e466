// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Reference.h"

#include <gtest/gtest.h>

using namespace ds;
using namespace ds::test;

TEST(Layout, PrintsTheShortForm) {
  Layout layout = layoutOf({{"a", "b"}, {}});
  layout.dims.push_back({factor(3), factor(4, {"c"}), factor(16)});
  EXPECT_EQ(layout.str(), "[{a, b}, {}, (3)(4{c})(16)]");
  layout.partial = {{"e", ReduceKind::Max}, {"d", ReduceKind::Sum}};
  layout.flat = {"g", "f"};
  layout.at = {{"h", {1}}, {"i", {0, 2}}};
  layout.memory = MemoryTier::Host;
  EXPECT_EQ(layout.str(), "[{a, b}, {}, (3)(4{c})(16)], partial = {d, e:max}, flat = {g, f}, "
                          "at = {h = 1, i = {0, 2}}, memory = host");
  EXPECT_EQ(Layout{}.str(), "[]");
}

TEST(Layout, NamesGoBothWays) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min, ReduceKind::And, ReduceKind::Or})
    EXPECT_EQ(findReduceKind(reduceKindName(kind)), kind);
  for (MemoryTier tier : {MemoryTier::Device, MemoryTier::Host, MemoryTier::Disk})
    EXPECT_EQ(findMemoryTier(memoryTierName(tier)), tier);
  EXPECT_EQ(findReduceKind("mean"), std::nullopt);
  EXPECT_EQ(findMemoryTier(""), std::nullopt);
}

TEST(Layout, OnlyTheLayoutWithoutEncodingIsReplicated) {
  EXPECT_TRUE(Layout::replicated(2).isReplicated());
  EXPECT_TRUE(Layout{}.isReplicated());
  EXPECT_FALSE(layoutOf({{"a"}}).isReplicated());
  EXPECT_FALSE(flatOver(layoutOf({{}}), {"a"}).isReplicated());
  EXPECT_FALSE(partialOver(layoutOf({{}}), {{"a", ReduceKind::Sum}}).isReplicated());
  Layout host = layoutOf({{}});
  host.memory = MemoryTier::Host;
  EXPECT_FALSE(host.isReplicated());
}

TEST(Layout, NormalizedMergesAndDropsFactorsWithoutAxes) {
  const auto check = [](DimLayout dim, int64_t size, DimLayout expected) {
    Layout layout;
    layout.dims = {std::move(dim)};
    EXPECT_EQ(normalized(layout, {size}).dims[0], expected) << layout.str();
  };
  check({factor(3), factor(4)}, 12, {factor(kWholeDim)});
  check({factor(12, {"a"})}, 12, {factor(kWholeDim, {"a"})});
  check({factor(1), factor(12, {"a"}), factor(1)}, 12, {factor(kWholeDim, {"a"})});
  check({factor(3), factor(2), factor(2, {"a"}), factor(1), factor(5)}, 60, {factor(6), factor(2, {"a"}), factor(5)});
  check({factor(1, {"a"}), factor(4)}, 4, {factor(1, {"a"}), factor(4)});
  check({factor(1)}, 1, {factor(kWholeDim)});
  check({factor(0)}, 0, {factor(kWholeDim)});
}

TEST(Layout, FaultsAreNamed) {
  const Mesh mesh = meshOf({2, 3});
  const auto check = [&](const Layout &layout, const Shape &shape, const std::string &expected) {
    EXPECT_EQ(findLayoutFault(layout, shape, mesh), expected) << layout.str();
  };
  check(layoutOf({{}}), {2, 3}, "layout must have 2 dims, got 1");
  check(layoutOf({{"z"}}), {2}, "refers to unknown axis \"z\"");
  check(layoutOf({{"a"}, {"a"}}), {2, 3}, "axis \"a\" must be used at most once, got it twice");
  check(flatOver(layoutOf({{"a"}}), {"a"}), {2}, "axis \"a\" must be used at most once, got it twice");
  check(partialOver(layoutOf({{"a"}}), {{"a", ReduceKind::Sum}}), {2},
        "axis \"a\" must be used at most once, got it twice");
  check(partialOver(layoutOf({{}}), {{"a", ReduceKind::Sum}, {"b", ReduceKind::Max}}), {2},
        "partial axes must fold by one operation, got sum over \"a\" and max over \"b\"");
  Layout layout = layoutOf({{}});
  layout.dims[0] = {factor(3), factor(4, {"a"})};
  EXPECT_EQ(findLayoutFault(layout, {12}, mesh), std::nullopt);
  check(layout, {13}, "factors of dim 0 must multiply to 13, got (3)(4{a})");
  check(layout, {24}, "factors of dim 0 must multiply to 24, got (3)(4{a})");
  layout.dims[0] = {factor(int64_t(1) << 62), factor(8, {"a"})};
  EXPECT_NE(findLayoutFault(layout, {0}, mesh), std::nullopt);
  layout.dims[0] = {factor(kWholeDim), factor(4, {"a"})};
  EXPECT_NE(findLayoutFault(layout, {4}, mesh), std::nullopt);
  layout.dims[0] = {factor(-3), factor(-4)};
  EXPECT_NE(findLayoutFault(layout, {12}, mesh), std::nullopt);
  layout.dims[0] = {};
  check(layout, {12}, "dim 0 must have a factor, got none");
  layout = layoutOf({{}});
  layout.at = {{"b", {0, 3}}};
  check(layout, {12}, "`at` of axis \"b\" must be in [0, 3), got 3");
  layout.at = {{"b", {}}};
  check(layout, {12}, "`at` must name a coordinate of axis \"b\", got none");
}
