// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/RandomInputs.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace ds;

namespace {

constexpr const char *kProgram = R"(
  ds.variable @table {role = #ds.role<parameter>} : tensor<9x3xf32>
  ds.variable @variance {role = #ds.role<optimizer>} : tensor<8xf32>
  ds.variable @steps {role = #ds.role<counter>} : tensor<i64>
  func.func @f(%ids: tensor<2x32xi64> {ds.name = "ids"}, %labels: tensor<64xi64> {ds.name = "labels"}, %mask: tensor<64xi64> {ds.name = "mask"},
               %logits: tensor<64x5xf32>) -> tensor<64xf32> {
    %line = ds.reshape %ids : (tensor<2x32xi64>) -> tensor<64xi64>
    %table = ds.read @table : tensor<9x3xf32>
    %rows = ds.gather_rows %table, %line : (tensor<9x3xf32>, tensor<64xi64>) -> tensor<64x3xf32>
    %loss = ds.cross_entropy %logits, %labels {ignore_index = -100 : i64} : (tensor<64x5xf32>, tensor<64xi64>) -> tensor<64xf32>
    return %loss : tensor<64xf32>
  }
)";

class RandomInputsTest : public ::testing::Test {
protected:
  RandomInputsTest() : context(registry()), module(mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context)) {}

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registerProgramDialects(registry);
    return registry;
  }

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(RandomInputsTest, IdsCoverTheRowsOfTheirTable) {
  const std::vector<int64_t> ids = randomInputs({function()}, 1).inputs.at("ids").ints;
  EXPECT_EQ(*std::min_element(ids.begin(), ids.end()), 0);
  EXPECT_EQ(*std::max_element(ids.begin(), ids.end()), 8);
}

TEST_F(RandomInputsTest, LabelsAreClassesOrIgnored) {
  const std::vector<int64_t> labels = randomInputs({function()}, 1).inputs.at("labels").ints;
  EXPECT_TRUE(std::all_of(labels.begin(), labels.end(),
                          [](int64_t label) { return label == -100 || (label >= 0 && label < 5); }));
  EXPECT_TRUE(std::count(labels.begin(), labels.end(), -100));
  EXPECT_TRUE(std::count(labels.begin(), labels.end(), 4));
}

TEST_F(RandomInputsTest, OtherIntegersAreMasks) {
  const std::vector<int64_t> mask = randomInputs({function()}, 1).inputs.at("mask").ints;
  EXPECT_EQ(*std::max_element(mask.begin(), mask.end()), 1);
}

TEST_F(RandomInputsTest, StatesArePositiveAndCountersCount) {
  const RandomInputs inputs = randomInputs({function()}, 1);
  const std::vector<double> &variance = inputs.variables.at("variance").floats;
  EXPECT_GT(*std::min_element(variance.begin(), variance.end()), 0);
  EXPECT_GE(inputs.variables.at("steps").ints.front(), 1);
}

TEST_F(RandomInputsTest, SeedsTellApart) {
  EXPECT_EQ(randomInputs({function()}, 1).inputs.at("ids").ints, randomInputs({function()}, 1).inputs.at("ids").ints);
  EXPECT_NE(randomInputs({function()}, 1).inputs.at("ids").ints, randomInputs({function()}, 2).inputs.at("ids").ints);
}

} // namespace
