// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/DenseTensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace ds;

namespace {

TEST(DenseTensorTest, WrapsIntegersToTheirWidth) {
  EXPECT_EQ(wrapInteger(128, 8), -128);
  EXPECT_EQ(wrapInteger(-1, 32), -1);
  EXPECT_EQ(wrapInteger(3, 1), 1);
  EXPECT_EQ(wrapInteger(INT64_MIN, 64), INT64_MIN);
}

TEST(DenseTensorTest, RoundsToStorageTypes) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  EXPECT_EQ(roundToType(1 + 0x1p-30, builder.getF32Type()), 1);
  EXPECT_EQ(roundToType(1 + 0x1p-30, builder.getF64Type()), 1 + 0x1p-30);
  EXPECT_EQ(roundToType(1 + 0x1p-8, builder.getBF16Type()), 1) << "ties go to even";
  EXPECT_EQ(roundToType(1 + 3 * 0x1p-8, builder.getBF16Type()), 1 + 0x1p-6);
  EXPECT_TRUE(std::isinf(roundToType(70000, builder.getF16Type())));
}

TEST(DenseTensorTest, ErrorsAreRelativeToTheLargestEntry) {
  const DenseTensor a = DenseTensor::ofFloats({2}, {100, 1}), b = DenseTensor::ofFloats({2}, {100, 2});
  EXPECT_DOUBLE_EQ(relativeError(a, b), 0.01);
  EXPECT_TRUE(std::isinf(relativeError(a, DenseTensor::ofFloats({2}, {100, NAN}))));
  EXPECT_TRUE(std::isinf(relativeError(a, DenseTensor::zeros({3}, true))));
  EXPECT_LT(relativeError(DenseTensor::zeros({1}, true), DenseTensor::ofFloats({1}, {1e-18})), 1e-9);
}

} // namespace
