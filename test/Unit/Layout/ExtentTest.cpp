// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Reference.h"

#include <gtest/gtest.h>

using namespace ds;
using namespace ds::test;

/// Checks all extents of all layouts of `spelling` on `mesh` against the enumeration.
static void checkAllExtents(const Spelling &spelling, const Mesh &mesh) {
  std::map<std::string, ReduceKind> axes;
  for (const MeshAxis &axis : mesh.axes())
    axes[axis.name] = ReduceKind::Sum;
  const Shape shape = shapeOf(spelling);
  for (const Layout &layout : allLayouts(spelling, axes, mesh)) {
    int64_t largest = 0;
    ASSERT_EQ(findLayoutFault(layout, shape, mesh), std::nullopt) << layout.str();
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      const std::vector<int64_t> expected = referenceIndices(layout, shape, mesh, rank);
      largest = std::max(largest, static_cast<int64_t>(expected.size()));
      ASSERT_EQ(ownedIndices(layout, shape, mesh, rank), expected) << layout.str() << " rank " << rank;
      ASSERT_EQ(ownedElements(layout, shape, mesh, rank), static_cast<int64_t>(expected.size()));
      ASSERT_EQ(holdsValue(layout, mesh, rank) ? flatInterval(layout, shape, mesh, rank).length() : 0,
                static_cast<int64_t>(expected.size()));
    }
    ASSERT_EQ(maxOwnedElements(layout, shape, mesh), largest) << layout.str();
  }
}

TEST(Extent, AllLayoutsOfASmallMatrixOwnWhatTheDefinitionSays) {
  for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{2, 2}, {2, 3}, {2, 4}})
    checkAllExtents({{5}, {3}}, meshOf(sizes));
}

TEST(Extent, SmallVectorsOnManyRanksOwnWhatTheDefinitionSays) {
  for (int64_t size : {1, 3, 5, 8})
    for (int64_t ranks : {1, 3, 5, 8})
      checkAllExtents({{size}}, meshOf({ranks}));
}

TEST(Extent, FactorsAreCutOneByOne) {
  checkAllExtents({{3, 4}, {2}}, meshOf({2, 3}));
  checkAllExtents({{2, 3, 2}}, meshOf({2, 2}));
  checkAllExtents({{3, 1, 2}}, meshOf({2, 2}));
}

TEST(Extent, WeightsMakeSharesUneven) {
  const Mesh mesh({{"a", 2, {1, 2}}, {"b", 3, {5, 1, 1}}});
  checkAllExtents({{5}, {3}}, mesh);
  checkAllExtents({{8}}, mesh);
}

TEST(Extent, ScalarsAndEmptyTensorsHaveExtents) {
  checkAllExtents({}, meshOf({2, 3}));
  const Layout split = layoutOf({{"a"}});
  EXPECT_EQ(ownedElements(split, {0}, meshOf({2}), 1), 0);
}

TEST(Extent, SplitMakesCeilBlocksWithEmptyOnesLast) {
  const MeshAxis axis{"a", 4, {}};
  EXPECT_EQ(split({0, 5}, axis, 0), (Interval{0, 2}));
  EXPECT_EQ(split({0, 5}, axis, 2), (Interval{4, 5}));
  EXPECT_EQ(split({0, 5}, axis, 3), (Interval{5, 5}));
  EXPECT_EQ(split({3, 3}, axis, 2).length(), 0);
}

TEST(Extent, WeightedSplitCutsAtTheFloorOfTheRunningShare) {
  const MeshAxis axis{"a", 3, {1, 2, 2}};
  EXPECT_EQ(split({10, 21}, axis, 0), (Interval{10, 12}));
  EXPECT_EQ(split({10, 21}, axis, 1), (Interval{12, 16}));
  EXPECT_EQ(split({10, 21}, axis, 2), (Interval{16, 21}));
}

TEST(Extent, WeightedSplitOfHugeDimsDoesNotOverflow) {
  const MeshAxis axis{"a", 2, {3'000'000'000, 1'000'000'000}};
  EXPECT_EQ(split({0, 4'000'000'000'000'000'000}, axis, 0).end, 3'000'000'000'000'000'000);
}

TEST(Extent, NestedCutsAreNotOneCutOverTheProduct) {
  // 5 over 2 x 2: {3, 2} -> {2, 1}, {1, 1}; one cut over 4 ranks would be {2, 2, 1, 0}.
  const Mesh mesh = meshOf({2, 2});
  std::vector<int64_t> lengths;
  for (int64_t rank = 0; rank < 4; ++rank)
    lengths.push_back(ownedInterval(5, {"a", "b"}, mesh, rank).length());
  EXPECT_EQ(lengths, (std::vector<int64_t>{2, 1, 1, 1}));
}

TEST(Extent, HeadsAreCutWholeAndColumnsAreNot) {
  const Mesh mesh = meshOf({3});
  Layout heads;
  heads.dims = {{factor(4, {"a"}), factor(3)}};
  const Layout columns = layoutOf({{"a"}});
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(blockShape(heads, {12}, mesh, rank), (Shape{rank < 2 ? 6 : 0}));
    EXPECT_EQ(blockShape(columns, {12}, mesh, rank), (Shape{4}));
  }
  EXPECT_EQ(maxBlockShape(heads, {12}, mesh), (Shape{6}));
}

TEST(Mesh, RanksAreRowMajorWithTheLastAxisFastest) {
  const Mesh mesh = meshOf({2, 3, 2});
  EXPECT_EQ(mesh.numRanks(), 12);
  for (int64_t rank = 0; rank < 12; ++rank)
    for (const MeshAxis &axis : mesh.axes())
      EXPECT_EQ(mesh.coordinate(rank, axis.name), referenceCoordinate(mesh, rank, axis.name));
  EXPECT_EQ(mesh.group(7, "b"), (std::vector<int64_t>{7, 9, 11}));
  EXPECT_EQ(mesh.findAxis("d"), nullptr);
}
