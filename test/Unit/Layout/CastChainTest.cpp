// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Every chain keeps the value, with random partials and poisoned buffers, and is as cheap as the best of all chains.

#include "ExhaustiveSearch.h"
#include "Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace ds;
using namespace ds::test;

using Axes = std::map<std::string, ReduceKind>;
using Chain = std::vector<Cast>;

static std::vector<double> randomValue(const Shape &shape, bool isBool, std::mt19937 &random) {
  std::vector<double> value(numElements(shape));
  for (double &element : value)
    element = isBool ? random() % 2 : 1 + static_cast<double>(random() % 1000);
  return value;
}

/// Whether the elements that move are what `receivedElements` says; reductions have formulas of their own.
static bool countsAreExact(CastKind kind) { return kind != CastKind::AllReduce && kind != CastKind::Copy; }

/// Applies `chain` to a random tensor and checks the value and the elements received after every cast.
static void checkKeepsValue(const Layout &from, const Chain &chain, const Shape &shape, const Mesh &mesh,
                            std::mt19937 &random) {
  DistributedTensor tensor(randomValue(shape, false, random), from, shape, mesh, random);
  ASSERT_EQ(tensor.findFault(), "") << from.str();
  for (const Cast &cast : chain) {
    const Layout before = tensor.layout();
    ASSERT_EQ(findLayoutFault(cast.result, shape, mesh), std::nullopt) << cast.result.str();
    const int64_t received = tensor.apply(cast);
    ASSERT_EQ(tensor.findFault(), "") << castKindName(cast.kind) << " from " << before.str();
    if (countsAreExact(cast.kind)) {
      ASSERT_EQ(receivedElements(cast, before, shape, mesh), static_cast<double>(received))
          << castKindName(cast.kind) << " from " << before.str() << " to " << cast.result.str();
    }
  }
}

/// The units that the worst rank receives over the whole chain.
static int64_t mostReceived(const Layout &from, const Chain &chain, const Mesh &mesh, const ExhaustiveSearch &search) {
  int64_t most = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    int64_t received = 0;
    Layout before = from;
    for (const Cast &cast : chain) {
      received += search.receivedByRank(cast.kind, cast.axis, before, cast.result, rank);
      before = cast.result;
    }
    most = std::max(most, received);
  }
  return most;
}

/// The sum of what each cast's worst rank receives, by the library; equal to the reference's count.
static int64_t sumReceived(const Layout &from, const Chain &chain, const Shape &shape, const Mesh &mesh,
                           const ExhaustiveSearch &search) {
  int64_t sum = 0;
  Layout before = from;
  for (const Cast &cast : chain) {
    const int64_t received = std::llround(receivedElements(cast, before, shape, mesh) * unitsPerElement);
    EXPECT_EQ(received, search.received(cast.kind, cast.axis, before, cast.result)) << castKindName(cast.kind);
    sum += received;
    before = cast.result;
  }
  return sum;
}

static std::string text(const Layout &from, const Chain &chain) {
  std::string result = from.str();
  for (const Cast &cast : chain)
    result += "\n  " + std::string(castKindName(cast.kind)) + " " + cast.axis + " -> " + cast.result.str();
  return result;
}

/// The chain must be of least cost; dearer by sum is allowed to a lone collective, and to a chain of collectives under
/// which no rank receives more than that.
static void checkIsCheapest(const Layout &from, const Chain &chain, const Shape &shape, const Mesh &mesh,
                            const ExhaustiveSearch &search) {
  const int64_t least = search.cheapest(from, chain.back().result);
  const int64_t sum = sumReceived(from, chain, shape, mesh, search);
  ASSERT_GE(sum, least) << text(from, chain);
  if (sum == least)
    return;
  for (const Cast &cast : chain)
    ASSERT_NE(cast.kind, CastKind::Remap) << least << " < " << sum << " " << text(from, chain);
  if (chain.size() > 1) {
    ASSERT_LE(mostReceived(from, chain, mesh, search), least) << text(from, chain);
  }
}

static void checkPair(const Layout &from, const Layout &to, const Shape &shape, const Mesh &mesh,
                      const ExhaustiveSearch &search, std::mt19937 &random) {
  const std::optional<Chain> chain = cheapestCasts(from, to, shape, mesh);
  ASSERT_TRUE(chain) << from.str() << " -> " << to.str();
  if (from == to) {
    ASSERT_TRUE(chain->empty());
    return;
  }
  ASSERT_FALSE(chain->empty());
  ASSERT_EQ(chain->back().result, to);
  checkKeepsValue(from, *chain, shape, mesh, random);
  if (search.hasAllPlaces(from, to))
    checkIsCheapest(from, *chain, shape, mesh, search);
  const std::optional<Cast> single = findCast(from, to, shape, mesh);
  const std::optional<CastKind> expected = search.findCollective(from, to);
  ASSERT_TRUE(!expected || (single && single->kind == *expected)) << from.str() << " -> " << to.str();
  ASSERT_TRUE(!single || single->result == to);
}

static bool uses(const Layout &from, const Layout &to, const std::string &axis) {
  const auto usesAxis = [&](const Layout &layout) {
    const AxisList dimAxes = layout.dimAxes();
    return std::count(dimAxes.begin(), dimAxes.end(), axis) || layout.partial.count(axis) || layout.at.count(axis) ||
           std::count(layout.flat.begin(), layout.flat.end(), axis);
  };
  return usesAxis(from) || usesAxis(to);
}

/// All pairs of layouts that use all of `axes` between them; the chain moves no others.
static void checkAllPairs(const Spelling &spelling, const Axes &axes, const Mesh &mesh) {
  std::mt19937 random(1);
  const ExhaustiveSearch search(spelling, axes, mesh);
  for (const Layout &from : search.layouts())
    for (const Layout &to : search.layouts()) {
      if (!std::all_of(axes.begin(), axes.end(), [&](const auto &entry) { return uses(from, to, entry.first); }))
        continue;
      checkPair(from, to, shapeOf(spelling), mesh, search, random);
      if (testing::Test::HasFatalFailure())
        return;
    }
}

/// `checkAllPairs` for every subset of the axes of `mesh`, all partial by `kind`.
static void checkAllPairsOfAllAxes(const Spelling &spelling, const Mesh &mesh, ReduceKind kind) {
  std::vector<Axes> subsets = {{}};
  for (const MeshAxis &axis : mesh.axes())
    for (size_t i = 0, n = subsets.size(); i < n; ++i)
      subsets.emplace_back(subsets[i])[axis.name] = kind;
  for (const Axes &axes : subsets)
    checkAllPairs(spelling, axes, mesh);
}

TEST(CastChain, AllPairsOfLayoutsOfASmallMatrixOnTwoAxes) {
  checkAllPairsOfAllAxes({{5}, {3}}, meshOf({2, 2}), ReduceKind::Sum);
  checkAllPairsOfAllAxes({{5}, {3}}, meshOf({2, 3}), ReduceKind::Max);
  checkAllPairsOfAllAxes({{5}, {3}}, meshOf({2, 4}), ReduceKind::Sum);
}

TEST(CastChain, AllPairsOfTwoOperations) {
  checkAllPairs({{5}}, {{"a", ReduceKind::Sum}, {"b", ReduceKind::Max}}, meshOf({2, 3}));
  checkAllPairs({{4}}, {{"a", ReduceKind::Min}, {"b", ReduceKind::Sum}}, meshOf({2, 2}));
}

TEST(CastChain, AllPairsOfSmallVectorsOnTwoAxes) {
  for (int64_t size : {1, 3, 5, 8})
    for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{2, 2}, {2, 3}, {2, 4}})
      checkAllPairsOfAllAxes({{size}}, meshOf(sizes), ReduceKind::Sum);
}

TEST(CastChain, AllPairsOnOneAxisOfAnySize) {
  for (int64_t ranks : {1, 3, 5, 8}) {
    checkAllPairsOfAllAxes({{5}, {3}}, meshOf({ranks}), ReduceKind::Sum);
    checkAllPairsOfAllAxes({}, meshOf({ranks}), ReduceKind::Min);
  }
}

TEST(CastChain, AllPairsOfAScalar) { checkAllPairsOfAllAxes({}, meshOf({2, 3}), ReduceKind::Sum); }

TEST(CastChain, AllPairsOfUnevenWeights) {
  const Mesh mesh({{"a", 2, {1, 3}}, {"b", 3, {2, 1, 1}}});
  checkAllPairsOfAllAxes({{5}, {3}}, mesh, ReduceKind::Sum);
}

TEST(CastChain, AllPairsOfFactoredLayouts) {
  checkAllPairsOfAllAxes({{3, 4}}, meshOf({2, 2}), ReduceKind::Sum);
  checkAllPairsOfAllAxes({{2, 2}}, meshOf({2, 3}), ReduceKind::Sum);
  checkAllPairsOfAllAxes({{2, 3}, {2}}, meshOf({2, 2}), ReduceKind::Sum);
}

/// Random pairs on more axes than can be searched by enumeration: the value and the counts only.
static void checkRandomPairs(const std::vector<Spelling> &spellings, const Mesh &mesh, int numPairs) {
  std::mt19937 random(3);
  std::vector<Layout> layouts;
  Axes axes;
  for (const MeshAxis &axis : mesh.axes())
    axes[axis.name] = ReduceKind::Sum;
  for (const Spelling &spelling : spellings) {
    const std::vector<Layout> some = allLayouts(spelling, axes, mesh);
    layouts.insert(layouts.end(), some.begin(), some.end());
  }
  const Shape shape = shapeOf(spellings.front());
  for (int i = 0; i < numPairs && !testing::Test::HasFatalFailure(); ++i) {
    const Layout &from = layouts[random() % layouts.size()], &to = layouts[random() % layouts.size()];
    const std::optional<Chain> chain = cheapestCasts(from, to, shape, mesh);
    ASSERT_TRUE(chain);
    ASSERT_TRUE(from == to || chain->back().result == to);
    checkKeepsValue(from, *chain, shape, mesh, random);
  }
}

TEST(CastChain, RandomPairsOnThreeAxesKeepTheValue) {
  checkRandomPairs({{{4}, {3}}}, meshOf({2, 3, 2}), 60);
  checkRandomPairs({{{5}}}, meshOf({2, 2, 2}), 60);
}

TEST(CastChain, RandomPairsOfDifferentFactorsKeepTheValue) {
  checkRandomPairs({{{12}}, {{3, 4}}, {{2, 6}}, {{2, 2, 3}}, {{6, 2}}}, meshOf({2, 3}), 400);
}

TEST(CastChain, BooleansFoldByAndAndOr) {
  std::mt19937 random(5);
  for (ReduceKind kind : {ReduceKind::And, ReduceKind::Or}) {
    const Layout from = partialOver(layoutOf({{}}), {{"a", kind}});
    for (const Layout &to : {layoutOf({{}}), layoutOf({{"a"}}), flatOver(layoutOf({{}}), {"a"})}) {
      const std::optional<Chain> chain = cheapestCasts(from, to, {5}, meshOf({3}));
      ASSERT_TRUE(chain && chain->size() == 1);
      DistributedTensor tensor(randomValue({5}, true, random), from, {5}, meshOf({3}), random);
      tensor.apply(chain->front());
      EXPECT_EQ(tensor.findFault(), "");
    }
  }
}
