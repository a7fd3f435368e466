// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Chains that the design counts on, one claim each.

#include "Reference.h"

#include <gtest/gtest.h>

using namespace ds;
using namespace ds::test;

using Partial = std::map<std::string, ReduceKind>;
static const Partial sumA = {{"a", ReduceKind::Sum}};
static const Partial sumAB = {{"a", ReduceKind::Sum}, {"b", ReduceKind::Sum}};

/// The chain as text, such as "reduce_scatter a, all_gather b"; "none" if there is none.
static std::string chainText(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh) {
  const std::optional<std::vector<Cast>> chain = cheapestCasts(from, to, shape, mesh);
  if (!chain)
    return "none";
  std::string text;
  for (const Cast &cast : *chain)
    text +=
        (text.empty() ? "" : ", ") + std::string(castKindName(cast.kind)) + (cast.axis.empty() ? "" : " " + cast.axis);
  return text;
}

static double costOf(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh) {
  const std::optional<Cast> cast = findCast(from, to, shape, mesh);
  return cast ? receivedElements(*cast, from, shape, mesh) : -1;
}

TEST(Cast, CostsFollowTheTable) {
  const Mesh mesh = meshOf({4});
  const Shape shape = {8, 16};
  const Layout whole = layoutOf({{}, {}}), rows = layoutOf({{"a"}, {}}), columns = layoutOf({{}, {"a"}});
  const Layout flat = flatOver(whole, {"a"}), partial = partialOver(whole, sumA);
  Layout first = whole, second = whole, host = rows;
  first.at = {{"a", {0}}};
  second.at = {{"a", {1}}};
  host.memory = MemoryTier::Host;
  EXPECT_EQ(costOf(whole, rows, shape, mesh), 0);
  EXPECT_EQ(costOf(whole, partial, shape, mesh), 0);
  EXPECT_EQ(costOf(rows, whole, shape, mesh), 96);
  EXPECT_EQ(costOf(flat, whole, shape, mesh), 96);
  EXPECT_EQ(costOf(partial, rows, shape, mesh), 96);
  EXPECT_EQ(costOf(partial, flat, shape, mesh), 96);
  EXPECT_EQ(costOf(partial, whole, shape, mesh), 192);
  EXPECT_EQ(costOf(rows, columns, shape, mesh), 24);
  EXPECT_EQ(costOf(columns, flat, shape, mesh), 24);
  EXPECT_EQ(costOf(first, second, shape, mesh), 128);
  EXPECT_EQ(costOf(first, whole, shape, mesh), 128);
  EXPECT_EQ(costOf(whole, first, shape, mesh), 0);
  EXPECT_EQ(costOf(first, partial, shape, mesh), 0);
  EXPECT_EQ(costOf(rows, host, shape, mesh), 32);
}

TEST(Cast, FindCastNamesTheOneStep) {
  const Mesh mesh = meshOf({2, 2});
  const Shape shape = {8, 12};
  Layout heads = layoutOf({{}, {}});
  heads.dims[1] = {factor(3), factor(4, {"a"})};
  const std::optional<Cast> take = findCast(layoutOf({{}, {}}), heads, shape, mesh);
  ASSERT_TRUE(take);
  EXPECT_EQ(take->kind, CastKind::TakeShard);
  EXPECT_EQ(take->to, (AxisPlace{false, 1, 1}));
  const std::optional<Cast> move = findCast(layoutOf({{"b", "a"}, {}}), layoutOf({{"b"}, {"a"}}), shape, mesh);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, CastKind::AllToAll);
  EXPECT_EQ(move->from, (AxisPlace{false, 0, 0}));
  EXPECT_EQ(move->to, (AxisPlace{false, 1, 0}));
  const std::optional<Cast> remap = findCast(layoutOf({{"b", "a"}, {}}), layoutOf({{"a"}, {"b"}}), shape, mesh);
  ASSERT_TRUE(remap);
  EXPECT_EQ(remap->kind, CastKind::Remap);
  EXPECT_EQ(findCast(heads, heads, shape, mesh), std::nullopt);
  EXPECT_EQ(findCast(partialOver(layoutOf({{}, {}}), sumAB), layoutOf({{}, {}}), shape, mesh), std::nullopt);
}

TEST(Cast, OnlyTheMinorMostAxisIsGathered) {
  const Mesh mesh = meshOf({2, 2});
  EXPECT_EQ(chainText(layoutOf({{"a", "b"}}), layoutOf({{"a"}}), {8}, mesh), "all_gather b");
  EXPECT_EQ(chainText(layoutOf({{"a", "b"}}), layoutOf({{"b"}}), {8}, mesh), "remap");
  EXPECT_EQ(chainText(layoutOf({{"a", "b"}}), layoutOf({{}}), {8}, mesh), "all_gather b, all_gather a");
}

TEST(Cast, ReductionsScatterBeforeTheyGather) {
  const Mesh mesh = meshOf({2, 4});
  const Layout partial = partialOver(layoutOf({{}, {}}), sumAB);
  EXPECT_EQ(chainText(partialOver(layoutOf({{}, {}}), sumA), layoutOf({{"a"}, {}}), {64, 64}, mesh),
            "reduce_scatter a");
  EXPECT_EQ(chainText(partial, flatOver(layoutOf({{}, {}}), {"b", "a"}), {64, 64}, mesh),
            "reduce_scatter b, reduce_scatter a");
  EXPECT_EQ(chainText(partial, layoutOf({{}, {}}), {64, 64}, mesh), "reduce_scatter b, all_reduce a, all_gather b");
}

TEST(Cast, AScalarIsReducedOverOneAxisAfterTheOther) {
  const Layout scalar = partialOver(Layout{}, sumAB);
  EXPECT_EQ(chainText(scalar, Layout{}, {}, meshOf({2, 4})), "all_reduce a, all_reduce b");
  EXPECT_EQ(chainText(scalar, Layout{}, {}, meshOf({8, 8})), "all_reduce b, all_reduce a");
}

TEST(Cast, UnevenSharesDoNotTurnGathersIntoRemaps) {
  for (int64_t size : {5, 7, 11, 1023})
    EXPECT_EQ(chainText(flatOver(layoutOf({{}}), {"a", "b"}), layoutOf({{}}), {size}, meshOf({2, 3})),
              "all_gather b, all_gather a");
}

TEST(Cast, AxesThatNeitherEndUsesStayOut) {
  // Sharding over the idle b would make the all_reduce cheaper; b is left alone.
  EXPECT_EQ(chainText(partialOver(layoutOf({{}}), sumA), layoutOf({{}}), {64}, meshOf({8, 2})), "all_reduce a");
}

TEST(Cast, AxesThatLieTheSameStayWhereTheyAre) {
  const Mesh mesh = meshOf({2, 2});
  Layout from = layoutOf({{"b"}, {}}), to = from;
  from.partial = sumA;
  to.flat = {"a"};
  EXPECT_EQ(chainText(from, to, {8, 8}, mesh), "reduce_scatter a");
}

TEST(Cast, HeadsAndTheirFlatShardAreGatheredAlone) {
  Layout heads = layoutOf({{}, {}});
  heads.dims[1] = {factor(3), factor(4, {"a"}), factor(16)};
  const Layout shard = flatOver(heads, {"b"});
  EXPECT_EQ(chainText(shard, heads, {64, 192}, meshOf({2, 2})), "all_gather b");
  EXPECT_EQ(chainText(partialOver(heads, {{"b", ReduceKind::Sum}}), shard, {64, 192}, meshOf({2, 2})),
            "reduce_scatter b");
}

TEST(Cast, BetweenFactorsOfOneDimAnAllToAllNeedsPlacesThatDoNotOverlap) {
  Layout major = layoutOf({{}}), minor = major, heads = major;
  major.dims[0] = {factor(2, {"a"}), factor(6)};
  minor.dims[0] = {factor(6), factor(2, {"a"})};
  heads.dims[0] = {factor(3), factor(4, {"a"})};
  EXPECT_EQ(chainText(major, minor, {12}, meshOf({2})), "all_to_all a");
  EXPECT_EQ(chainText(layoutOf({{"a"}}), heads, {12}, meshOf({2})), "remap");
}

TEST(Cast, DispatchOfExpertsIsOneAllToAll) {
  EXPECT_EQ(chainText(layoutOf({{"a"}, {}, {}}), layoutOf({{}, {"a"}, {}}), {4, 8, 16}, meshOf({4})), "all_to_all a");
}

TEST(Cast, OnlyTheShardCrossesTheMemoryLink) {
  const Mesh mesh = meshOf({4});
  Layout host = flatOver(layoutOf({{}}), {"a"});
  host.memory = MemoryTier::Host;
  EXPECT_EQ(chainText(host, layoutOf({{}}), {64}, mesh), "copy, all_gather a");
  EXPECT_EQ(chainText(partialOver(layoutOf({{}}), sumA), host, {64}, mesh), "reduce_scatter a, copy");
  EXPECT_EQ(chainText(layoutOf({{}}), host, {64}, mesh), "take_shard a, copy");
}

TEST(Cast, ElementsMoveOnTheDeviceWhereOneEndIsThere) {
  const Mesh mesh = meshOf({4});
  Layout host = layoutOf({{"a"}, {}}), hostColumns = layoutOf({{}, {"a"}});
  host.memory = hostColumns.memory = MemoryTier::Host;
  EXPECT_EQ(chainText(host, layoutOf({{}, {"a"}}), {8, 8}, mesh), "copy, all_to_all a");
  EXPECT_EQ(chainText(layoutOf({{}, {"a"}}), host, {8, 8}, mesh), "all_to_all a, copy");
  EXPECT_EQ(chainText(host, hostColumns, {8, 8}, mesh), "all_to_all a");
}

TEST(Cast, StagesHandOverAndReduce) {
  const Mesh mesh = meshOf({4});
  Layout first = layoutOf({{}}), last = layoutOf({{}});
  first.at = {{"a", {0}}};
  last.at = {{"a", {3}}};
  EXPECT_EQ(chainText(first, last, {8}, mesh), "transfer a");
  EXPECT_EQ(chainText(last, partialOver(layoutOf({{}}), sumA), {8}, mesh), "to_partial a");
  EXPECT_EQ(chainText(first, layoutOf({{}}), {8}, mesh), "transfer a");
}

TEST(Cast, OneOperationReplacesAnotherByReducingFirst) {
  const Layout sum = partialOver(layoutOf({{}}), sumA), max = partialOver(layoutOf({{}}), {{"a", ReduceKind::Max}});
  EXPECT_EQ(chainText(sum, max, {8}, meshOf({2})), "all_reduce a, to_partial a");
  // Sum over a and max over b never stand side by side.
  EXPECT_EQ(chainText(sum, partialOver(layoutOf({{}}), {{"b", ReduceKind::Max}}), {8}, meshOf({2, 2})),
            "all_reduce a, to_partial b");
}

TEST(Cast, LayoutsOfDifferentRankHaveNoChain) {
  EXPECT_EQ(chainText(layoutOf({{}}), layoutOf({{}, {}}), {8}, meshOf({2})), "none");
  EXPECT_EQ(findCast(layoutOf({{}}), layoutOf({{}, {}}), {8}, meshOf({2})), std::nullopt);
}
