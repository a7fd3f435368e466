// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Every elementwise function of f32 that kernels compute, at all magnitudes, against libm in f64: within 4 units of the
// last place of the true value. As in the executor's threads, numbers below the least normal one are zeros.

#include "Kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <pmmintrin.h>
#include <xmmintrin.h>

using namespace ds;
using namespace ds::test;

namespace {

/// A function of one number. `body` defines %y of type !f from %x, and may use the constant %one.
struct Function {
  const char *name;
  std::string body;
  double (*exact)(double);
  double flushes = 1; ///< results of up to so many least normal numbers may be zero, as a step on the way to them is
};

std::ostream &operator<<(std::ostream &out, const Function &function) { return out << function.name; }

/// Denormals as zeros, in operands and results.
class DenormalsAreZeros {
public:
  DenormalsAreZeros() : before(_mm_getcsr()) {
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  }
  ~DenormalsAreZeros() { _mm_setcsr(before); }

private:
  unsigned before;
};

constexpr double kLeastNormal = std::numeric_limits<float>::min();
constexpr double kMostUnits = 4;

float floatOf(uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

double flushed(double x) { return std::abs(x) < kLeastNormal ? std::copysign(0.0, x) : x; }

/// By how many units of the last place `got` misses `exact`; infinite where only one of them is a number.
double unitsApart(double got, double exact, double flushes = 1) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) == std::isnan(got) ? 0 : kInfinity;
  if (std::isinf(static_cast<float>(exact)) || std::isinf(got))
    return static_cast<float>(exact) == static_cast<float>(got) ? 0 : kInfinity;
  if (std::abs(exact) < flushes * kLeastNormal && (got == 0 || std::abs(got) == kLeastNormal))
    return 0;
  int exponent = 0;
  std::frexp(std::max(std::abs(exact), kLeastNormal), &exponent);
  return std::abs(got - exact) / std::ldexp(1.0, exponent - 24);
}

/// Every exponent, sign and kind of number with many mantissas: a stride that has no factor in common with the bits.
std::vector<double> allMagnitudes(uint64_t stride) {
  std::vector<double> numbers;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += stride)
    numbers.push_back(flushed(floatOf(static_cast<uint32_t>(bits))));
  for (double special : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL, std::nan("")})
    numbers.push_back(special);
  // Where exponentials begin and end, and multiples of pi / 2.
  for (double place = -110; place <= 110; place += 1.0 / 64)
    numbers.push_back(place);
  for (int64_t turns = 1; turns < 100000; turns += 7)
    numbers.push_back(static_cast<float>(turns * M_PI / 2));
  return numbers;
}

std::string typeOf(size_t count) { return "f = tensor<" + std::to_string(count) + "xf32>"; }

std::string oneOf(const std::string &body) {
  return body.find("%one") == std::string::npos ? "" : "  %one = arith.constant dense<1.0> : !f\n";
}

class MathSweep : public testing::TestWithParam<Function> {};

} // namespace

TEST_P(MathSweep, IsWithinFourUnits) {
  const Function &function = GetParam();
  std::vector<double> numbers = allMagnitudes(15013);
  ParsedKernel kernel({typeOf(numbers.size())}, "!f", "!f",
                      "^bb0(%x: !f):\n" + oneOf(function.body) + function.body + "\n  ds.yield %y : !f");
  std::vector<double> got;
  {
    DenormalsAreZeros mode;
    got = compileAndCall(kernel.op(), {{{static_cast<int64_t>(numbers.size())}, numbers}})[0].elements;
  }
  double worst = 0, worstAt = 0;
  for (size_t place = 0; place < numbers.size(); ++place)
    if (double units = unitsApart(got[place], function.exact(numbers[place]), function.flushes); !(units <= worst)) {
      worst = units;
      worstAt = numbers[place];
    }
  RecordProperty("units", std::to_string(worst));
  EXPECT_LE(worst, kMostUnits) << "at " << testing::PrintToString(worstAt);
}

static std::string call(const std::string &op) { return "  %y = " + op + " %x : !f"; }

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// As `ds-decompose-composites` writes them.
static const char *const kSigmoid = R"(  %n = arith.negf %x : !f
  %e = math.exp %n : !f
  %d = arith.addf %e, %one : !f
  %y = arith.divf %one, %d : !f)";
static const char *const kSoftplus = R"(  %zero = arith.constant dense<0.0> : !f
  %a = math.absf %x : !f
  %n = arith.negf %a : !f
  %e = math.exp %n {ds.bounded} : !f
  %l = math.log1p %e : !f
  %m = arith.maximumf %x, %zero : !f
  %y = arith.addf %m, %l : !f)";
static const char *const kReciprocal = "  %y = arith.divf %one, %x : !f";
static const char *const kBoundedExp = R"(  %a = math.absf %x : !f
  %n = arith.negf %a : !f
  %y = math.exp %n {ds.bounded} : !f)";

INSTANTIATE_TEST_SUITE_P(
    Unary, MathSweep,
    testing::Values(Function{"abs", call("math.absf"), std::fabs}, Function{"ceil", call("math.ceil"), std::ceil},
                    Function{"cos", call("math.cos"), std::cos}, Function{"erf", call("math.erf"), std::erf, 2},
                    Function{"exp", call("math.exp"), std::exp},
                    Function{"boundedExp", kBoundedExp, [](double x) { return std::exp(-std::fabs(x)); }},
                    Function{"expm1", call("math.expm1"), std::expm1, 2},
                    Function{"floor", call("math.floor"), std::floor}, Function{"log", call("math.log"), std::log},
                    Function{"log1p", call("math.log1p"), std::log1p},
                    Function{"reciprocal", kReciprocal, [](double x) { return 1 / x; }},
                    Function{"roundeven", call("math.roundeven"), std::nearbyint},
                    Function{"rsqrt", call("math.rsqrt"), [](double x) { return 1 / std::sqrt(x); }},
                    Function{"sigmoid", kSigmoid, sigmoid}, Function{"sin", call("math.sin"), std::sin},
                    Function{"softplus", kSoftplus, softplus}, Function{"sqrt", call("math.sqrt"), std::sqrt},
                    Function{"tanh", call("math.tanh"), std::tanh}),
    [](const testing::TestParamInfo<Function> &info) { return std::string(info.param.name); });

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

static const double kExponents[] = {0,    1,    2,     3,      4,        5,         7,        -1,       -2,       -3,
                                    0.5,  -0.5, 1.5,   2.7,    -0.3,     1e-3,      13.3,     -20.2,    100,      1e5,
                                    1e30, -1e7, 1e-30, 1. / 3, HUGE_VAL, -HUGE_VAL, 16777215, 16777217, 33554432, NAN};

static void expectPowers(const std::vector<double> &bases, const std::vector<double> &exponents,
                         const std::string &text) {
  ParsedKernel kernel(
      {typeOf(bases.size())}, text.empty() ? "!f, !f" : "!f", "!f",
      (text.empty() ? "^bb0(%x: !f, %e: !f):\n" : "^bb0(%x: !f):\n  %e = arith.constant dense<" + text + "> : !f\n") +
          std::string("  %y = math.powf %x, %e : !f\n  ds.yield %y : !f"));
  const std::vector<int64_t> shape = {static_cast<int64_t>(bases.size())};
  std::vector<Tensor> inputs = {{shape, bases}};
  if (text.empty())
    inputs.push_back({shape, exponents});
  std::vector<double> got;
  {
    DenormalsAreZeros mode;
    got = compileAndCall(kernel.op(), inputs)[0].elements;
  }
  double worst = 0;
  size_t worstAt = 0;
  for (size_t place = 0; place < bases.size(); ++place)
    if (double units = unitsApart(got[place], std::pow(bases[place], exponents[place])); !(units <= worst)) {
      worst = units;
      worstAt = place;
    }
  EXPECT_LE(worst, kMostUnits) << bases[worstAt] << " to the power of " << exponents[worstAt];
}

/// Of all bases, in one call, and of all exponents.
TEST(MathSweepOfPowers, IsWithinFourUnits) {
  std::vector<double> bases, exponents;
  for (double exponent : kExponents)
    for (double base : allMagnitudes(1500013)) {
      bases.push_back(base);
      exponents.push_back(static_cast<float>(exponent));
    }
  for (double base : {0.3, 0.99, 1.0, 1.01, 1.5, 2.0, 10.0, -1.0, -2.0, 0.0, -0.0, 1e30, 1e-30, HUGE_VAL, -HUGE_VAL})
    for (double exponent : allMagnitudes(3000017)) {
      bases.push_back(static_cast<float>(base));
      exponents.push_back(exponent);
    }
  expectPowers(bases, exponents, "");
}

/// Constants, for which there may be products in place of the power.
TEST(MathSweepOfPowers, OfAConstantIsWithinFourUnits) {
  const std::vector<double> bases = allMagnitudes(1500013);
  for (const char *text : {"2.0", "3.0", "4.0", "5.0", "6.0", "-2.0", "0.5", "-0.5", "1.5"}) {
    SCOPED_TRACE(text);
    expectPowers(bases, std::vector<double>(bases.size(), std::stod(text)), text);
  }
}
