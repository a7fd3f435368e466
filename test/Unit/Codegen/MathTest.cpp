// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The functions of f32 against libm in f64.

#include "Kernels.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ds;
using namespace ds::test;

namespace {

struct MathCase {
  const char *op;
  double (*exact)(double);
  double first, last;
  double tolerance = 2e-6; ///< relative
  double floor = 1e-35;    ///< absolute
};

/// What gtest shows of a case.
void PrintTo(const MathCase &test, std::ostream *out) { *out << test.op; }

double rsqrt(double x) { return 1 / std::sqrt(x); }

class MathTest : public testing::TestWithParam<MathCase> {};

} // namespace

static constexpr int64_t kPoints = 20011;

TEST_P(MathTest, IsCloseToLibm) {
  const MathCase &test = GetParam();
  ParsedKernel kernel({"f = tensor<" + std::to_string(kPoints) + "xf32>"}, "!f", "!f",
                      std::string("^bb0(%x: !f):\n  %y = ") + test.op + " %x : !f\n  ds.yield %y : !f");
  std::vector<Tensor> inputs = randomInputs(kernel.op());
  for (int64_t place = 0; place < kPoints; ++place) {
    float x = test.first + (test.last - test.first) * place / (kPoints - 1);
    // Half of the points are dense near zero.
    inputs[0].elements[place] = place % 2 && test.first < 0 ? x * std::abs(x) * std::abs(x) * 1e-4f : x;
  }
  for (double &x : inputs[0].elements)
    x = static_cast<float>(x);
  Tensor got = compileAndCall(kernel.op(), inputs)[0];
  double worst = 0, worstAt = 0;
  for (int64_t place = 0; place < kPoints; ++place) {
    double exact = test.exact(inputs[0].elements[place]);
    double apart = std::abs(got.elements[place] - exact) - test.floor;
    double relative = apart <= 0 ? 0 : apart / std::abs(exact);
    if (!(relative <= worst)) {
      worst = relative;
      worstAt = inputs[0].elements[place];
    }
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(worst, test.tolerance) << test.op << " at " << worstAt;
}

INSTANTIATE_TEST_SUITE_P(
    Math, MathTest,
    testing::Values(MathCase{"math.exp", std::exp, -87.3, 88.7, 3e-7}, MathCase{"math.exp", std::exp, -10, 10, 2e-7},
                    MathCase{"math.expm1", std::expm1, -80, 88.7, 3e-7}, MathCase{"math.tanh", std::tanh, -20, 20},
                    MathCase{"math.erf", std::erf, -10, 10, 3e-7}, MathCase{"math.erf", std::erf, -4, 4, 3e-7},
                    MathCase{"math.log", std::log, 1e-30, 1e6}, MathCase{"math.log", std::log, 0.5, 2, 2e-6, 1e-8},
                    MathCase{"math.rsqrt", rsqrt, 1e-6, 1e6}, MathCase{"math.sqrt", std::sqrt, 0, 1e6},
                    MathCase{"math.sin", std::sin, -10, 10, 2e-6, 1e-6},
                    MathCase{"math.cos", std::cos, -10, 10, 2e-6, 1e-6}),
    [](const testing::TestParamInfo<MathCase> &info) {
      return std::string(info.param.op + 5) + std::to_string(info.index);
    });

TEST(Math, ValuesAtTheEnds) {
  auto call = [](const std::string &op, std::vector<double> values) {
    ParsedKernel kernel({"f = tensor<" + std::to_string(values.size()) + "xf32>"}, "!f", "!f",
                        "^bb0(%x: !f):\n  %y = " + op + " %x : !f\n  ds.yield %y : !f");
    int64_t size = values.size();
    return compileAndCall(kernel.op(), {{{size}, std::move(values)}})[0].elements;
  };
  std::vector<double> exp = call("math.exp", {0, -INFINITY, INFINITY, NAN, -1e30, 89, -200, -87.25});
  EXPECT_EQ(exp[0], 1);
  EXPECT_EQ(exp[1], 0);
  EXPECT_EQ(exp[2], INFINITY);
  EXPECT_TRUE(std::isnan(exp[3]));
  EXPECT_EQ(exp[4], 0);
  EXPECT_EQ(exp[5], INFINITY);
  EXPECT_EQ(exp[6], 0);
  EXPECT_FLOAT_EQ(exp[7], std::exp(-87.25)); // a normal number, if only just
  std::vector<double> expm1 = call("math.expm1", {0, -INFINITY, INFINITY, NAN, 1e-20});
  EXPECT_EQ(expm1[0], 0);
  EXPECT_EQ(expm1[1], -1);
  EXPECT_EQ(expm1[2], INFINITY);
  EXPECT_TRUE(std::isnan(expm1[3]));
  EXPECT_FLOAT_EQ(expm1[4], 1e-20f);
  for (const char *op : {"math.tanh", "math.erf"}) {
    std::vector<double> values = call(op, {0, -INFINITY, INFINITY, NAN, 1e30});
    EXPECT_EQ(values[0], 0);
    EXPECT_FLOAT_EQ(values[1], -1);
    EXPECT_FLOAT_EQ(values[2], 1);
    EXPECT_TRUE(std::isnan(values[3])) << op;
    EXPECT_FLOAT_EQ(values[4], 1);
  }
  // So that a GELU of negative numbers is zero.
  EXPECT_EQ(call("math.erf", {-4, 4}), std::vector<double>({-1, 1}));
  std::vector<double> log = call("math.log", {1, 0, -1, INFINITY, NAN});
  EXPECT_EQ(log[0], 0);
  EXPECT_EQ(log[1], -INFINITY);
  EXPECT_TRUE(std::isnan(log[2]));
  EXPECT_EQ(log[3], INFINITY);
  EXPECT_TRUE(std::isnan(log[4]));
}
