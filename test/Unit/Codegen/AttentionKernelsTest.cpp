// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Kernels of fused attention and its gradient, at every edge of their blocks, vectors, heads and chunks.

#include "Attentions.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

using namespace ds::test;

static void fillRandomly(Attention &attention) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> real(-2, 2);
  attention.fill([&] { return real(random); });
}

/// The greatest |a - b| relative to the greatest finite |b|, which counts as 0.1 at least: a single key's gradient is 0
/// but for rounding. Infinite if one is not finite where the other is.
static double difference(const NamedTensor &a, const NamedTensor &b) {
  double greatest = 0.1, apart = 0;
  for (size_t place = 0; place < b.elements.size(); ++place) {
    double x = a.elements[place], y = b.elements[place];
    if (std::isfinite(x) != std::isfinite(y))
      return std::numeric_limits<double>::infinity();
    if (!std::isfinite(y))
      continue;
    apart = std::max(apart, std::abs(x - y));
    greatest = std::max(greatest, std::abs(y));
  }
  return apart / greatest;
}

/// Sums of up to 200 products in f32, and an exponential of relative error 3e-7.
static constexpr double kTolerance = 2e-5;

/// What the rows' maxima and sums stand for: a maximum may be less than the greatest score.
static NamedTensor logSums(const AttentionResults &results) {
  NamedTensor logs = results.rowMax;
  for (size_t place = 0; place < logs.elements.size(); ++place)
    logs.elements[place] += std::log(results.rowSum.elements[place]);
  return logs;
}

static void expectSame(Attention &attention, const AttentionCall &call = {}, double tolerance = kTolerance) {
  AttentionResults expected = evaluate(attention), got = compileAndCall(attention, call);
  EXPECT_LE(difference(got.result, expected.result), tolerance) << "result";
  EXPECT_LE(difference(logSums(got), logSums(expected)), tolerance) << "log-sums";
  for (size_t number = 0; number < got.gradients.size(); ++number)
    EXPECT_LE(difference(got.gradients[number], expected.gradients[number]), tolerance) << "gradient " << number;
}

static void expectSame(const Letters &sizes, bool isCausal, const std::string &bias = "",
                       const AttentionCall &call = {}) {
  Attention attention(sizes, isCausal, bias);
  fillRandomly(attention);
  expectSame(attention, call);
}

TEST(AttentionKernels, AnyNumberOfPositions) {
  for (int64_t queries : {1, 63, 64, 65, 130})
    for (bool isCausal : {false, true}) {
      SCOPED_TRACE(queries);
      expectSame({{'b', 2}, {'k', 2}, {'s', queries}, {'t', queries}, {'d', 16}, {'e', 16}}, isCausal);
    }
}

TEST(AttentionKernels, MoreKeysThanQueries) {
  for (int64_t queries : {1, 63, 66})
    for (bool isCausal : {false, true}) {
      SCOPED_TRACE(queries);
      expectSame({{'b', 1}, {'k', 2}, {'s', queries}, {'t', queries + 70}, {'d', 16}, {'e', 16}}, isCausal);
    }
}

TEST(AttentionKernels, FewerKeysThanQueries) {
  expectSame({{'b', 1}, {'k', 2}, {'s', 70}, {'t', 3}, {'d', 16}, {'e', 16}}, /*isCausal=*/false);
}

TEST(AttentionKernels, AnyWidth) {
  for (auto [width, valueWidth] : {std::pair<int64_t, int64_t>{8, 8}, {16, 72}, {40, 8}, {64, 64}, {72, 40}, {3, 1}}) {
    SCOPED_TRACE(width);
    expectSame({{'b', 2}, {'k', 1}, {'s', 66}, {'t', 66}, {'d', width}, {'e', valueWidth}}, /*isCausal=*/true);
  }
}

TEST(AttentionKernels, GroupsOfQueriesShareAKeyHead) {
  for (bool isCausal : {false, true})
    expectSame({{'b', 2}, {'k', 2}, {'g', 3}, {'s', 67}, {'t', 67}, {'d', 16}, {'e', 8}}, isCausal);
}

TEST(AttentionKernels, BiasPerKey) {
  const Letters sizes = {{'b', 2}, {'k', 2}, {'g', 2}, {'s', 65}, {'t', 80}, {'d', 16}, {'e', 16}};
  for (auto [names, isCausal] : {std::pair{"t", false}, {"bt", true}, {"kgt", false}, {"bkgt", true}}) {
    SCOPED_TRACE(names);
    expectSame(sizes, isCausal, names);
  }
}

TEST(AttentionKernels, AJointProjectionAndItsGradient) {
  for (bool isCausal : {false, true}) {
    Attention attention({{'b', 2}, {'k', 3}, {'s', 65}, {'t', 65}, {'d', 16}, {'e', 16}}, isCausal);
    attention.pack();
    fillRandomly(attention);
    expectSame(attention);
  }
}

TEST(AttentionKernels, ChunksBeginInsideOfHeads) {
  for (int64_t chunks : {1, 2, 3, 7, 32, 400}) {
    SCOPED_TRACE(chunks);
    AttentionCall call;
    call.chunks = chunks;
    expectSame({{'b', 2}, {'k', 3}, {'s', 70}, {'t', 70}, {'d', 8}, {'e', 8}}, /*isCausal=*/true, "", call);
  }
}

/// Bits do not depend on how the rows are cut.
TEST(AttentionKernels, ChunksDoNotChangeBits) {
  Attention attention({{'b', 2}, {'k', 3}, {'s', 70}, {'t', 70}, {'d', 8}, {'e', 8}}, /*isCausal=*/true);
  fillRandomly(attention);
  AttentionCall other;
  other.chunks = 5;
  AttentionResults a = compileAndCall(attention), b = compileAndCall(attention, other);
  EXPECT_EQ(a.result.elements, b.result.elements);
  for (size_t number = 0; number < 3; ++number)
    EXPECT_EQ(a.gradients[number].elements, b.gradients[number].elements);
}

TEST(AttentionKernels, OtherCpus) {
  for (std::string cpu : {"x86-64", "x86-64-v3"}) {
    if (cpu == "x86-64-v3" && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
      GTEST_SKIP() << "this machine has no AVX2";
    SCOPED_TRACE(cpu);
    AttentionCall call;
    call.cpu = cpu;
    expectSame({{'b', 2}, {'k', 2}, {'g', 2}, {'s', 65}, {'t', 67}, {'d', 40}, {'e', 18}}, true, "bt", call);
  }
}

TEST(AttentionKernels, NoBatchOrNoHeadsOnARankWriteNothing) {
  for (char letter : {'b', 'k'}) {
    Attention attention({{'b', 2}, {'k', 2}, {'s', 5}, {'t', 5}, {'d', 8}, {'e', 8}}, /*isCausal=*/true);
    fillRandomly(attention);
    AttentionCall call;
    call.chunks = 3;
    call.extents[letter] = 0;
    AttentionResults got = compileAndCall(attention, call);
    got.gradients.insert(got.gradients.end(), {got.result, got.rowMax, got.rowSum});
    for (const NamedTensor &tensor : got.gradients)
      EXPECT_THAT(tensor.elements, testing::Each(testing::IsNan()));
  }
}

TEST(AttentionKernels, OneCodeServesAllSizes) {
  Attention one({{'b', 1}, {'k', 2}, {'s', 5}, {'t', 5}, {'d', 8}, {'e', 8}}, true, "bt"),
      other({{'b', 3}, {'k', 1}, {'s', 70}, {'t', 80}, {'d', 8}, {'e', 8}}, true, "bt"),
      wide({{'b', 1}, {'k', 2}, {'s', 5}, {'t', 5}, {'d', 16}, {'e', 8}}, true, "bt"),
      whole({{'b', 1}, {'k', 2}, {'s', 5}, {'t', 5}, {'d', 8}, {'e', 8}}, false, "bt");
  EXPECT_EQ(attentionHash(one), attentionHash(other));
  EXPECT_NE(attentionHash(one), attentionHash(wide));
  EXPECT_NE(attentionHash(one), attentionHash(whole));
}

//===----------------------------------------------------------------------===//
// Extreme values
//===----------------------------------------------------------------------===//

/// Integers, so that scores up to 80,000 are exact. Log-sums of 40,000 are rounded to 2^-9.
TEST(AttentionKernels, LargeScoresDoNotOverflow) {
  Attention attention({{'b', 1}, {'k', 2}, {'s', 70}, {'t', 70}, {'d', 8}, {'e', 8}}, /*isCausal=*/true);
  attention.scale = 1;
  std::mt19937 random(7);
  attention.fill([&] { return static_cast<float>(static_cast<int>(random() % 200) - 100); });
  expectSame(attention, {}, 1e-4);
}

/// Padding on the left, as exporters write it: the first queries see only keys that the bias hides.
TEST(AttentionKernels, APaddedQuerySeesNoLaterKey) {
  for (float least : {-1e30f, std::numeric_limits<float>::lowest()}) {
    Attention attention({{'b', 1}, {'k', 1}, {'s', 70}, {'t', 70}, {'d', 8}, {'e', 8}}, /*isCausal=*/true, "bt");
    fillRandomly(attention);
    for (int64_t key = 0; key < 70; ++key)
      attention.bias.at({{'b', 0}, {'t', key}}) = key < 3 ? least : 0;
    EXPECT_LE(difference(compileAndCall(attention).result, evaluate(attention).result), kTolerance);
  }
}

/// A whole sequence of padding: the scores vanish beside the bias, and each key has the same probability, in the
/// gradient too. The logarithm of their number would vanish beside the bias as the scores do.
TEST(AttentionKernels, AWhollyPaddedQueryHasTheGradientOfAMean) {
  for (float least : {-1e9f, std::numeric_limits<float>::lowest()})
    for (bool isCausal : {false, true}) {
      SCOPED_TRACE(least);
      Attention attention({{'b', 2}, {'k', 2}, {'s', 70}, {'t', 70}, {'d', 8}, {'e', 8}}, isCausal, "bt");
      attention.scale = 1e-6; // f64, in which the expected values are computed, must lose the scores too
      fillRandomly(attention);
      for (int64_t key = 0; key < 70; ++key)
        attention.bias.at({{'b', 1}, {'t', key}}) = least;
      expectSame(attention, {}, 1e-4);
    }
}

TEST(AttentionKernels, ANaNReachesWhatDependsOnIt) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t position : {0, 40, 66}) {
    Attention query({{'b', 1}, {'k', 1}, {'s', 67}, {'t', 67}, {'d', 8}, {'e', 8}}, /*isCausal=*/true);
    fillRandomly(query);
    Attention key = query, value = query;
    query.query.at({{'b', 0}, {'k', 0}, {'s', position}, {'d', 3}}) = nan;
    key.key.at({{'b', 0}, {'k', 0}, {'t', position}, {'d', 3}}) = nan;
    value.value.at({{'b', 0}, {'k', 0}, {'t', position}, {'e', 3}}) = nan;
    AttentionResults ofQuery = compileAndCall(query), ofKey = compileAndCall(key), ofValue = compileAndCall(value);
    for (int64_t s = 0; s < 67; ++s) {
      const Letters point = {{'b', 0}, {'k', 0}, {'s', s}, {'e', 3}};
      EXPECT_EQ(std::isnan(ofQuery.result.at(point)), s == position) << s;
      // 0 * NaN is NaN: a hidden value of the same block counts.
      EXPECT_TRUE(s < position || std::isnan(ofKey.result.at(point))) << s;
      EXPECT_TRUE(s < position || std::isnan(ofValue.result.at(point))) << s;
    }
    for (const AttentionResults &results : {ofQuery, ofKey, ofValue})
      EXPECT_THAT(results.gradients[1].elements, testing::Contains(testing::IsNan()));
  }
}
