// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Every contraction against sums in double: equal within (number of terms + 8) * eps * sum of |terms|.

#include "PlanProgram.h"

#include "ds/Runtime/Device/Float16.h"

#include <algorithm>
#include <limits>

using namespace ds;
using namespace ds::runtime;
using namespace ds::runtime::test;

namespace {
using Dims = std::vector<uint16_t>;

struct Case {
  std::vector<int64_t> sizes;
  Dims a, b, c;
  float alpha = 1;
  bool accumulate = false, hasBias = false;
  Dims bias = {};
  plan::Activation activation = plan::Activation::None;
};

/// What C should be, and the size of the terms it is made of.
struct Expected {
  std::vector<double> values, magnitudes;
};
} // namespace

static int64_t countOf(const Dims &dims, const std::vector<int64_t> &sizes) {
  int64_t count = 1;
  for (uint16_t dim : dims)
    count *= sizes[dim];
  return count;
}

static size_t placeOf(const Dims &dims, const std::vector<int64_t> &sizes, const std::vector<int64_t> &point) {
  int64_t place = 0;
  for (uint16_t dim : dims)
    place = place * sizes[dim] + point[dim];
  return static_cast<size_t>(place);
}

static double activate(plan::Activation activation, double x) {
  switch (activation) {
  case plan::Activation::Relu:
    return x < 0 ? 0 : x;
  case plan::Activation::GeluTanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case plan::Activation::GeluErf:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case plan::Activation::Silu:
    return x / (1 + std::exp(-x));
  default:
    return x;
  }
}

/// Calls body(point) for each point of the index space.
template <typename Body> static void forEachPoint(const std::vector<int64_t> &sizes, const Body &body) {
  std::vector<int64_t> point(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size == 0)
      return;
  for (;;) {
    body(point);
    size_t i = sizes.size();
    while (i > 0 && ++point[i - 1] == sizes[i - 1])
      point[--i] = 0;
    if (i == 0)
      return;
  }
}

template <typename T>
static Expected compute(const Case &test, const std::vector<T> &a, const std::vector<T> &b, const std::vector<T> &c,
                        const std::vector<T> &bias) {
  Expected expected;
  expected.values.assign(c.size(), 0);
  expected.magnitudes.assign(c.size(), 0);
  forEachPoint(test.sizes, [&](const std::vector<int64_t> &point) {
    const double term = static_cast<double>(test.alpha) * static_cast<double>(a[placeOf(test.a, test.sizes, point)]) *
                        static_cast<double>(b[placeOf(test.b, test.sizes, point)]);
    expected.values[placeOf(test.c, test.sizes, point)] += term;
    expected.magnitudes[placeOf(test.c, test.sizes, point)] += std::abs(term);
  });
  std::vector<int64_t> outputSizes = test.sizes; // The points of C alone.
  for (size_t i = 0; i < outputSizes.size(); ++i)
    if (std::find(test.c.begin(), test.c.end(), i) == test.c.end())
      outputSizes[i] = 1;
  forEachPoint(outputSizes, [&](const std::vector<int64_t> &point) {
    const size_t at = placeOf(test.c, test.sizes, point);
    const double added = (test.accumulate ? static_cast<double>(c[at]) : 0) +
                         (test.hasBias ? static_cast<double>(bias[placeOf(test.bias, test.sizes, point)]) : 0);
    expected.values[at] = activate(test.activation, expected.values[at] + added);
    expected.magnitudes[at] += std::abs(added);
  });
  return expected;
}

template <typename T> static double epsilonOf() {
  if constexpr (std::is_same_v<T, BFloat16>)
    return 1.0 / 128;
  else if constexpr (std::is_same_v<T, Float16>)
    return 1.0 / 1024;
  else
    return static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <typename T> static std::vector<T> randomOf(int64_t count, uint32_t seed) {
  const std::vector<float> floats = randomFloats(count, seed);
  return {floats.begin(), floats.end()};
}

/// The number of summands of each element of C.
static double summandsOf(const Case &test) {
  double summands = 1;
  for (size_t i = 0; i < test.sizes.size(); ++i)
    if (std::find(test.c.begin(), test.c.end(), i) == test.c.end())
      summands *= static_cast<double>(test.sizes[i]);
  return summands;
}

/// Random operands.
template <typename T> struct Inputs {
  explicit Inputs(const Case &test)
      : a(randomOf<T>(countOf(test.a, test.sizes), 1)), b(randomOf<T>(countOf(test.b, test.sizes), 2)),
        c(randomOf<T>(countOf(test.c, test.sizes), 3)), bias(randomOf<T>(countOf(test.bias, test.sizes), 4)) {}
  std::vector<T> a, b, c, bias;
};

/// Runs the case on `threads` threads and returns C.
template <typename T> static std::vector<T> runOn(const Case &test, const Inputs<T> &inputs, int threads) {
  PlanProgram program;
  plan::MatmulT table;
  table.a = program.buffer(inputs.a);
  table.b = program.buffer(inputs.b);
  table.c = program.buffer(inputs.c);
  table.extents = program.extents(test.sizes);
  table.a_dims = test.a;
  table.b_dims = test.b;
  table.c_dims = test.c;
  table.alpha = test.alpha;
  table.accumulate = test.accumulate;
  if (test.hasBias) {
    table.bias = program.buffer(inputs.bias);
    table.bias_dims = test.bias;
  }
  table.activation = test.activation;
  table.type = kType<T>;
  const uint32_t output = table.c;
  program.add(table);
  const absl::Status status = program.run(threads);
  EXPECT_TRUE(status.ok()) << status;
  return status.ok() ? program.read<T>(output) : std::vector<T>();
}

template <typename T> static std::vector<T> checkOn(const Case &test, int threads) {
  const Inputs<T> inputs(test);
  const std::vector<T> got = runOn(test, inputs, threads);
  const Expected expected = compute(test, inputs.a, inputs.b, inputs.c, inputs.bias);
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = (summandsOf(test) + 8) * epsilonOf<T>() * (expected.magnitudes[i] + 1e-3);
    EXPECT_NEAR(static_cast<double>(got[i]), expected.values[i], bound) << "element " << i;
    if (std::abs(static_cast<double>(got[i]) - expected.values[i]) > bound)
      break;
  }
  return got;
}

/// f32 on one to three threads against f64, for cases whose points are too many to be visited one by one. Each addition
/// rounds a partial sum, which is below its number of terms.
static void checkLarge(const Case &test) {
  const Inputs<float> inputs(test);
  const std::vector<float> got = runOn(test, inputs, 2);
  EXPECT_EQ(got, runOn(test, inputs, 1)) << "bits must not depend on threads";
  EXPECT_EQ(got, runOn(test, inputs, 3)) << "bits must not depend on threads";
  const std::vector<double> expected = runOn(test, Inputs<double>(test), 2);
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - expected[i]));
  EXPECT_LT(worst, 4 * summandsOf(test) * epsilonOf<float>());
}

static void check(const Case &test) {
  const std::vector<float> one = checkOn<float>(test, 1), two = checkOn<float>(test, 2);
  EXPECT_EQ(one, two) << "bits must not depend on threads";
  checkOn<double>(test, 1);
  checkOn<BFloat16>(test, 2);
  checkOn<Float16>(test, 2);
}

TEST(Matmul, MultipliesMatricesInAnyOrder) {
  for (const Dims &a : {Dims{0, 2}, Dims{2, 0}})
    for (const Dims &b : {Dims{2, 1}, Dims{1, 2}})
      for (const Dims &c : {Dims{0, 1}, Dims{1, 0}})
        for (const std::vector<int64_t> &sizes :
             {std::vector<int64_t>{33, 17, 51}, {1, 19, 7}, {64, 128, 32}, {5, 1, 3}, {1, 1, 1}, {3, 4, 1}})
          check({sizes, a, b, c});
}

TEST(Matmul, TakesZeroSizes) {
  for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{0, 4, 5}, {3, 0, 5}, {3, 4, 0}, {0, 0, 0}})
    for (bool accumulate : {false, true})
      check({sizes, {0, 2}, {2, 1}, {0, 1}, 1, accumulate});
  check({{3, 4, 0}, {0, 2}, {2, 1}, {0, 1}, 2, true, true, {1}, plan::Activation::Relu});
}

TEST(Matmul, ScalesAccumulatesAndAddsBias) {
  for (float alpha : {1.0f, 0.25f})
    for (bool accumulate : {false, true})
      for (const Dims &bias : {Dims{1}, Dims{0}, Dims{0, 1}, Dims{}})
        check({{9, 33, 20}, {0, 2}, {2, 1}, {0, 1}, alpha, accumulate, true, bias});
}

TEST(Matmul, Activates) {
  for (plan::Activation activation :
       {plan::Activation::Relu, plan::Activation::GeluTanh, plan::Activation::GeluErf, plan::Activation::Silu})
    for (const Dims &bias : {Dims{1}, Dims{0}})
      check({{9, 33, 20}, {0, 2}, {2, 1}, {0, 1}, 1, false, true, bias, activation});
}

// Indices: batch 0, heads 1, queries 2, keys 3, width 4.
TEST(Matmul, ContractsAttention) {
  const std::vector<int64_t> sizes = {2, 3, 17, 19, 8};
  check({sizes, {0, 1, 2, 4}, {0, 1, 3, 4}, {0, 1, 2, 3}, 0.125f});  // q k^T, heads major
  check({sizes, {0, 2, 1, 4}, {0, 3, 1, 4}, {0, 1, 2, 3}, 0.125f});  // from [batch, sequence, heads, width]
  check({sizes, {0, 1, 2, 3}, {0, 3, 1, 4}, {0, 2, 1, 4}});          // p v
  check({sizes, {0, 1, 2, 3}, {0, 2, 1, 4}, {0, 3, 1, 4}, 1, true}); // p^T dy
}

// Indices: batch 0, sequence 1, inputs 2, outputs 3.
TEST(Matmul, ContractsLinearLayers) {
  const std::vector<int64_t> sizes = {2, 13, 24, 40};
  check({sizes, {0, 1, 2}, {2, 3}, {0, 1, 3}, 1, false, true, {3}, plan::Activation::GeluTanh}); // x w
  check({sizes, {0, 1, 2}, {3, 2}, {0, 1, 3}});                                                  // x w^T
  check({sizes, {0, 1, 2}, {0, 1, 3}, {2, 3}, 1, true});                                         // x^T dy
  check({sizes, {2, 3}, {0, 1, 3}, {0, 1, 2}});                                                  // w dy
}

TEST(Matmul, SharesAnOperandOverABatch) {
  check({{3, 4, 5, 6}, {0, 1, 3}, {3, 2}, {0, 2, 1}}); // rows cannot merge: 0 and 1 are apart in C
  check({{3, 4, 5, 6}, {1, 0, 3}, {3, 2}, {0, 1, 2}});
  check({{2, 3, 4, 5, 6}, {0, 1, 2, 4}, {0, 4, 3}, {0, 1, 2, 3}}); // grouped queries: keys shared by heads
  check({{2, 3, 4, 5, 6}, {0, 2, 1, 4}, {0, 3, 4}, {0, 1, 3, 2}});
}

TEST(Matmul, SumsOverSeveralIndices) {
  check({{3, 4, 5, 6}, {0, 2, 3}, {2, 3, 1}, {0, 1}}); // neighbours in both
  check({{3, 4, 5, 6}, {0, 2, 3}, {3, 2, 1}, {0, 1}}); // apart: two sums
  check({{3, 4, 5, 6}, {2, 0, 3}, {3, 1, 2}, {0, 1}, 0.5f, true, true, {1}, plan::Activation::Relu});
}

TEST(Matmul, TakesStridesThatAreNoMatrix) {
  check({{3, 4, 5, 2}, {0, 2, 3}, {2, 1, 3}, {0, 1, 3}}); // the batch is innermost everywhere
  check({{7, 5}, {0}, {1}, {0, 1}});                      // outer product
  check({{7}, {0}, {0}, {}});                             // inner product
  check({{7, 3}, {0, 1}, {0, 1}, {0}});
  check({{}, {}, {}, {}}); // scalars
}

TEST(Matmul, KeepsBitsForLongSumsAndWideRows) {
  check({{8, 16, 5000}, {2, 0}, {2, 1}, {0, 1}});
  check({{8, 16, 5000}, {0, 2}, {1, 2}, {0, 1}});
  check({{40, 1024, 64}, {0, 2}, {2, 1}, {0, 1}});
  check({{24, 16, 4096}, {2, 0}, {2, 1}, {0, 1}, 1, true, true, {1}}); // cut into pieces
  check({{24, 16, 4099}, {2, 0}, {2, 1}, {0, 1}});                     // a prime cannot be
}

TEST(MatmulSlow, PacksWhatManyRowsUse) {
  for (const Dims &b : {Dims{2, 1}, Dims{1, 2}})
    for (bool accumulate : {false, true})
      check({{1030, 80, 70}, {0, 2}, b, {0, 1}, 0.5f, accumulate, true, {1}, plan::Activation::Relu});
  check({{1024, 1024, 64}, {0, 2}, {2, 1}, {0, 1}});
}

TEST(Matmul, MultipliesInBlocks) {
  for (const Dims &a : {Dims{0, 2}, Dims{2, 0}})
    for (const Dims &b : {Dims{2, 1}, Dims{1, 2}})
      for (const std::vector<int64_t> &sizes : {std::vector<int64_t>{256, 256, 256}, {259, 307, 777}})
        for (bool accumulate : {false, true})
          checkLarge({sizes, a, b, {0, 1}, 0.5f, accumulate, accumulate, {1}});
  checkLarge({{300, 260, 270}, {0, 2}, {2, 1}, {1, 0}});                        // C transposed
  checkLarge({{300, 260, 270}, {0, 2}, {2, 1}, {0, 1}, 1, false, true, {0}});   // a bias of rows
  checkLarge({{2, 300, 260, 270}, {0, 1, 3}, {0, 3, 2}, {0, 1, 2}});            // a batch
  checkLarge({{3, 300, 260, 270}, {1, 0, 3}, {0, 3, 2}, {1, 2}, 1, true});      // two sums
  checkLarge({{1100, 1200, 260}, {0, 2}, {2, 1}, {0, 1}, 1, false, true, {1}}); // several pieces each way
}

TEST(MatmulSlow, PacksATransposedLeftInPhases) {
  checkLarge({{16500, 256, 256}, {2, 0}, {2, 1}, {0, 1}});         // of rows
  checkLarge({{515, 256, 8300}, {2, 0}, {2, 1}, {0, 1}, 1, true}); // of terms
}

TEST(Matmul, RefusesIndicesThatAreNoContraction) {
  PlanProgram program;
  plan::MatmulT table;
  table.a = program.buffer<float>(6);
  table.b = program.buffer<float>(2);
  table.c = program.buffer<float>(2);
  table.extents = program.extents({3, 2});
  table.a_dims = {0, 1};
  table.b_dims = {1};
  table.c_dims = {1};
  program.add(table);
  const absl::Status status = program.start();
  EXPECT_NE(status.message().find("index 0 must be in two or three operands"), std::string::npos) << status;
}
