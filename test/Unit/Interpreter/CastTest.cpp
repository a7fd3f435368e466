// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The interpreter's casts keep values between any two layouts.

#include "ds/Interpreter/DistributedTensor.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace ds;

namespace {

std::shared_ptr<const Placement> place(const Layout &layout, const Shape &shape, const Mesh &mesh) {
  return std::make_shared<const Placement>(layout, shape, mesh);
}

/// Where one axis may lie.
enum Place { Nowhere, Rows, Columns, Flat, PartialSum, PartialMax, At, kPlaces };

void addAxis(Layout &layout, const std::string &axis, Place place) {
  if (place == Rows || place == Columns)
    layout.dims[place == Rows ? 0 : 1][0].axes.push_back(axis);
  if (place == Flat)
    layout.flat.push_back(axis);
  if (place == PartialSum || place == PartialMax)
    layout.partial[axis] = place == PartialSum ? ReduceKind::Sum : ReduceKind::Max;
  if (place == At)
    layout.at[axis] = {1};
}

/// All layouts of a matrix over axes a and b, in both orders.
std::vector<Layout> matrixLayouts() {
  std::vector<Layout> layouts;
  for (int a = 0; a < kPlaces; ++a)
    for (int b = 0; b < kPlaces; ++b) {
      for (bool isSwapped : {false, true}) {
        Layout layout = Layout::replicated(2);
        addAxis(layout, isSwapped ? "b" : "a", static_cast<Place>(isSwapped ? b : a));
        addAxis(layout, isSwapped ? "a" : "b", static_cast<Place>(isSwapped ? a : b));
        if (!isSwapped || (a == b && a != Nowhere))
          layouts.push_back(layout);
      }
    }
  return layouts;
}

DenseTensor numberedMatrix(int64_t rows, int64_t columns) {
  DenseTensor tensor = DenseTensor::zeros({rows, columns}, true);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.floats[i] = std::sin(1 + 3 * i);
  return tensor;
}

void expectValue(const DistributedTensor &value, const DenseTensor &expected, const std::string &what) {
  EXPECT_EQ(findReplicaFault(value), std::nullopt) << what;
  const DenseTensor found = assemble(value, 64);
  ASSERT_EQ(found.shape, expected.shape) << what;
  for (int64_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found.at(i), expected.at(i), 1e-14) << what << " at element " << i;
}

void expectAllCastsKeepValues(const Mesh &mesh) {
  const DenseTensor matrix = numberedMatrix(5, 3);
  const std::vector<Layout> layouts = matrixLayouts();
  for (const Layout &from : layouts) {
    const DistributedTensor value = distribute(matrix, place(from, matrix.shape, mesh), 32, 7);
    expectValue(value, matrix, from.str());
    for (const Layout &to : layouts)
      expectValue(castTo(value, place(to, matrix.shape, mesh), 32), matrix, from.str() + " -> " + to.str());
  }
}

TEST(CastTest, EveryCastKeepsValuesOnEveryMesh) {
  for (int64_t size : {2, 3, 4})
    expectAllCastsKeepValues(Mesh({{"a", 2, {}}, {"b", size, {}}}));
  expectAllCastsKeepValues(Mesh({{"a", 2, {1, 3}}, {"b", 2, {}}}));
}

TEST(CastTest, IntegerSummandsFoldExactly) {
  const Mesh mesh({{"a", 3, {}}});
  Layout partial = Layout::replicated(1);
  partial.partial["a"] = ReduceKind::Sum;
  const DenseTensor value = DenseTensor::ofInts({4}, {-128, -1, 0, 127});
  EXPECT_EQ(assemble(distribute(value, place(partial, {4}, mesh), 8, 1), 8).ints, value.ints);
}

TEST(CastTest, SummandsAreRandomAndNotTheValueBesideZeros) {
  const Mesh mesh({{"a", 2, {}}});
  Layout partial = Layout::replicated(1);
  partial.partial["a"] = ReduceKind::Sum;
  const DistributedTensor split = distribute(DenseTensor::ofFloats({2}, {1, 2}), place(partial, {2}, mesh), 32, 1);
  EXPECT_NE(split.locals[0].floats[0], 0);
  EXPECT_NE(split.locals[1].floats[0], 0);
}

TEST(CastTest, ToPartialKeepsTheValueAtTheLowestCoordinateThatHoldsIt) {
  const Mesh mesh({{"pp", 3, {}}});
  Layout stage = Layout::replicated(1), partial = Layout::replicated(1);
  stage.at["pp"] = {1};
  partial.partial["pp"] = ReduceKind::Sum;
  const DistributedTensor value = distribute(DenseTensor::ofFloats({1}, {5}), place(stage, {1}, mesh), 32, 0);
  const DistributedTensor spread = castTo(value, place(partial, {1}, mesh), 32);
  EXPECT_EQ(spread.locals[0].floats[0], 0);
  EXPECT_EQ(spread.locals[1].floats[0], 5);
  EXPECT_EQ(spread.locals[2].floats[0], 0);
}

TEST(CastTest, FoldsInAscendingCoordinateOrder) {
  const Mesh mesh({{"a", 3, {}}});
  Layout partial = Layout::replicated(0);
  partial.partial["a"] = ReduceKind::Sum;
  DistributedTensor value = distribute(DenseTensor::zeros({}, true), place(partial, {}, mesh), 32, 0);
  value.locals[0].floats[0] = 1e16;
  value.locals[1].floats[0] = 1;
  value.locals[2].floats[0] = -1e16;
  EXPECT_EQ(assemble(value, 32).floats[0], (1e16 + 1) + -1e16);
}

TEST(CastTest, FindsReplicasThatDifferInOneBit) {
  const Mesh mesh({{"a", 2, {}}, {"b", 2, {}}});
  Layout rows = Layout::replicated(2);
  rows.dims[0][0].axes = {"a"};
  DistributedTensor value = distribute(numberedMatrix(5, 3), place(rows, {5, 3}, mesh), 32, 0);
  EXPECT_EQ(findReplicaFault(value), std::nullopt);
  double &element = value.locals[3].floats[0];
  element = std::nextafter(element, 10);
  ASSERT_TRUE(findReplicaFault(value));
  EXPECT_NE(findReplicaFault(value)->find("ranks 2 and 3 must have equal bits"), std::string::npos);
}

TEST(CastTest, FactorsAndFlatPiecesOfShardsKeepValues) {
  const Mesh mesh({{"tp", 2, {}}, {"dp", 3, {}}});
  Layout heads = Layout::replicated(2);
  heads.dims[1] = {{3, {}}, {2, {"tp"}}, {2, {}}};
  Layout flatHeads = heads;
  flatHeads.flat = {"dp"};
  const DenseTensor matrix = numberedMatrix(2, 12);
  const DistributedTensor value = distribute(matrix, place(flatHeads, matrix.shape, mesh), 32, 0);
  expectValue(castTo(value, place(heads, matrix.shape, mesh), 32), matrix, "gather");
  EXPECT_EQ(value.locals[0].shape, Shape{4});
}

} // namespace
