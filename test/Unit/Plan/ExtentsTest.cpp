// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SmallPlan.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace ds;
using namespace ds::plan;

namespace {
struct Case {
  Shape shape;
  ds::Layout layout;
};
} // namespace

static const Mesh kMesh({{"dp", 3, {}}, {"tp", 2, {}}, {"ep", 2, {1, 3}}});

static ds::Layout layoutWith(std::vector<DimLayout> dims, AxisList flat = {}) {
  ds::Layout layout;
  layout.dims = std::move(dims);
  layout.flat = std::move(flat);
  return layout;
}

/// Uneven, empty, weighted, factored, nested and flat ones.
static std::vector<Case> cases() {
  return {{{}, layoutWith({})},
          {{5}, layoutWith({{{kWholeDim, {}}}})},
          {{5}, layoutWith({{{kWholeDim, {"dp"}}}})},
          {{1}, layoutWith({{{kWholeDim, {"dp", "tp"}}}})},
          {{7, 3}, layoutWith({{{kWholeDim, {"ep"}}}, {{kWholeDim, {"dp"}}}})},
          {{12, 4}, layoutWith({{{3, {}}, {4, {"dp"}}}, {{kWholeDim, {}}}})},
          {{12, 5}, layoutWith({{{4, {"tp"}}, {3, {}}}, {{kWholeDim, {}}}}, {"dp", "ep"})},
          {{3, 5}, layoutWith({{{kWholeDim, {}}}, {{kWholeDim, {}}}}, {"ep", "dp", "tp"})},
          {{0, 5}, layoutWith({{{kWholeDim, {"dp"}}}, {{kWholeDim, {}}}})}};
}

TEST(Extents, elementsAreThoseOfTheLayout) {
  for (const Case &c : cases()) {
    ExtentT extent = elementsExtent(c.layout, c.shape, kMesh);
    for (int64_t rank = 0; rank < kMesh.numRanks(); ++rank) {
      ExtentValue value = evaluateExtent(extent, kMesh, rank);
      EXPECT_EQ(value.length, ownedElements(c.layout, c.shape, kMesh, rank)) << c.layout.str() << " rank " << rank;
      if (!c.layout.flat.empty()) {
        EXPECT_EQ(value.begin, flatInterval(c.layout, c.shape, kMesh, rank).begin) << c.layout.str();
      }
    }
    EXPECT_EQ(maxLength(extent, kMesh), maxOwnedElements(c.layout, c.shape, kMesh)) << c.layout.str();
  }
}

TEST(Extents, dimsAreThoseOfTheBlock) {
  for (const Case &c : cases()) {
    if (!c.layout.flat.empty())
      continue;
    for (int64_t rank = 0; rank < kMesh.numRanks(); ++rank)
      for (size_t dim = 0; dim < c.shape.size(); ++dim) {
        ExtentValue value = evaluateExtent(dimExtent(c.layout, c.shape, dim, kMesh), kMesh, rank);
        EXPECT_EQ(value.length, blockShape(c.layout, c.shape, kMesh, rank)[dim]);
        if (c.layout.dims[dim].size() == 1) {
          EXPECT_EQ(value.begin, ownedInterval(c.shape[dim], c.layout.dims[dim][0].axes, kMesh, rank).begin);
        }
      }
  }
}

TEST(Extents, anIntervalBeginsAtItsFirstElement) {
  for (const DimLayout &dim :
       {DimLayout{{kWholeDim, {"tp"}}}, DimLayout{{4, {"tp"}}, {3, {}}}, DimLayout{{4, {"ep", "tp"}}, {3, {}}}}) {
    const ds::Layout layout = layoutWith({dim});
    const ExtentT extent = dimExtent(layout, {12}, 0, kMesh);
    for (int64_t rank = 0; rank < kMesh.numRanks(); ++rank) {
      const std::vector<int64_t> owned = ownedIndices(layout, {12}, kMesh, rank);
      if (!owned.empty()) {
        EXPECT_EQ(evaluateExtent(extent, kMesh, rank).begin, owned.front()) << layout.str() << " rank " << rank;
      }
    }
  }
}

TEST(Extents, constantIsTheSameOnAllRanks) {
  EXPECT_EQ(evaluateExtent(constantExtent(10), kMesh, 5), (ExtentValue{10, 0}));
  EXPECT_EQ(evaluateExtent(constantExtent(1), kMesh, 5), (ExtentValue{1, 0}));
  EXPECT_EQ(evaluateExtent(constantExtent(0), kMesh, 5), (ExtentValue{0, 0}));
}

TEST(Extents, hugeProductsSaturate) {
  ExtentT extent = elementsExtent(ds::Layout::replicated(2), {int64_t(1) << 40, int64_t(1) << 40}, kMesh);
  EXPECT_EQ(evaluateExtent(extent, kMesh, 0).length, INT64_MAX);
}

TEST(Extents, tableKeepsEachOnce) {
  PlanT plan;
  ExtentTable table(plan);
  EXPECT_EQ(table.idOf(constantExtent(3)), 0u);
  EXPECT_EQ(table.idOf(constantExtent(4)), 1u);
  EXPECT_EQ(table.idOf(constantExtent(3)), 0u);
  EXPECT_EQ(ExtentTable(plan).idOf(constantExtent(4)), 1u);
}

TEST(LayoutTables, layoutsComeBack) {
  PlanT plan;
  plan.mesh = toPlanMesh(kMesh);
  EXPECT_EQ(meshOf(plan).axes(), kMesh.axes());
  for (const Case &c : cases()) {
    ds::Layout layout = c.layout;
    EXPECT_EQ(layoutOf(plan, *toPlanLayout(layout, c.shape, kMesh)), layout);
  }
  ds::Layout rich = layoutWith({{{kWholeDim, {}}}}, {"tp"});
  rich.partial = {{"dp", ds::ReduceKind::Max}};
  rich.at = {{"ep", {1}}};
  rich.memory = ds::MemoryTier::Host;
  EXPECT_EQ(layoutOf(plan, *toPlanLayout(rich, {5}, kMesh)), rich);
}

TEST(DataTypes, namesAndSizesMatch) {
  EXPECT_EQ(sizeOf(DataType::BF16), 2u);
  EXPECT_EQ(nameOf(DataType::I64), "i64");
  for (DataType type : EnumValuesDataType())
    EXPECT_EQ(findDataType(nameOf(type)), type);
  EXPECT_EQ(sizeOf(static_cast<DataType>(200)), 0u);
  EXPECT_EQ(nameOf(static_cast<Operation>(200)), "unknown");
}
