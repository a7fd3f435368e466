// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Layout/CommonFactors.h"

#include <gtest/gtest.h>

#include <random>

using namespace ds;

/// The factors of the dims of one side, such as "(3)(2), (4)"; own factors have a star.
static std::string textOf(const CommonFactors &common, const std::vector<std::vector<size_t>> &dims) {
  std::string text;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    text += dim ? ", " : "";
    for (size_t number : dims[dim])
      text += "(" + std::to_string(common.factors[number].size) + (common.factors[number].isShared ? ")" : "*)");
  }
  return text;
}

static std::string textOf(const Shape &a, const Shape &b) {
  const CommonFactors common = commonFactors(a, b);
  return textOf(common, common.a) + " | " + textOf(common, common.b);
}

TEST(CommonFactors, DimsAreCutAtCommonBoundaries) {
  EXPECT_EQ(textOf({6, 4}, {3, 8}), "(3)(2), (4) | (3), (2)(4)");
  EXPECT_EQ(textOf({2, 3, 4}, {24}), "(2), (3), (4) | (2)(3)(4)");
  EXPECT_EQ(textOf({8}, {8}), "(8) | (8)");
}

TEST(CommonFactors, DimsWithoutCommonBoundaryKeepTheirOwn) {
  EXPECT_EQ(textOf({2, 3}, {3, 2}), "(2*), (3*) | (3*), (2*)");
  EXPECT_EQ(textOf({5, 2, 3}, {5, 3, 2}), "(5), (2*), (3*) | (5), (3*), (2*)");
}

TEST(CommonFactors, DimsOfOneElementHaveNone) {
  EXPECT_EQ(textOf({1, 6}, {2, 1, 3}), ", (2)(3) | (2), , (3)");
  EXPECT_EQ(textOf({}, {1}), " | ");
}

TEST(CommonFactors, WithoutElementsNothingIsShared) { EXPECT_EQ(textOf({0, 4}, {2, 0}), "(0*), (4*) | (2*), (0*)"); }

/// The number of elements below each shared factor, which must be the same on both sides.
static std::vector<int64_t> placesOf(const CommonFactors &common, const std::vector<std::vector<size_t>> &dims) {
  std::vector<int64_t> places(common.factors.size(), -1);
  int64_t below = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
    for (auto number = dim->rbegin(); number != dim->rend(); ++number) {
      if (common.factors[*number].isShared)
        places[*number] = below;
      below *= common.factors[*number].size;
    }
  return places;
}

TEST(CommonFactors, SharedFactorsLieAtTheSamePlaceAndMultiplyToTheDims) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const Shape primes = {2, 2, 3, 2, 5, 3};
    Shape shapes[2];
    for (Shape &shape : shapes) {
      Shape shuffled = primes;
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      shape = {1};
      for (int64_t prime : shuffled)
        random() % 2 ? shape.push_back(prime) : void(shape.back() *= prime);
    }
    const CommonFactors common = commonFactors(shapes[0], shapes[1]);
    EXPECT_EQ(placesOf(common, common.a), placesOf(common, common.b));
    for (const auto &[shape, dims] : {std::pair(&shapes[0], &common.a), std::pair(&shapes[1], &common.b)})
      for (size_t dim = 0; dim < shape->size(); ++dim) {
        int64_t product = 1;
        for (size_t number : (*dims)[dim])
          product *= common.factors[number].size;
        EXPECT_EQ(product, (*shape)[dim]);
      }
  }
}
