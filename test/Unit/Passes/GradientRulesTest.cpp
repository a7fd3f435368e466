// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Every gradient rule against finite differences in float64.

#include "OpContext.h"
#include "OpPrograms.h"

#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/GradientCheck.h"
#include "ds/Passes/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace ds;
using namespace ds::test;

namespace {

OwningOpRef<ModuleOp> parse(const std::string &text) {
  return parseSourceString<ModuleOp>(text, ParserConfig(&contextWithRules()));
}

/// @step for the text of @forward; null if that fails.
OwningOpRef<ModuleOp> differentiate(const std::string &text) {
  OwningOpRef<ModuleOp> module = parse(text);
  PassManager manager(&contextWithRules());
  manager.addPass(createDifferentiatePass());
  if (!module || failed(manager.run(*module)))
    return nullptr;
  return module;
}

func::FuncOp function(ModuleOp module, StringRef name) { return module.lookupSymbol<func::FuncOp>(name); }

} // namespace

class GradientRule : public ::testing::TestWithParam<OpProgram> {};

TEST_P(GradientRule, agreesWithFiniteDifferences) {
  std::string text = forwardText(GetParam());
  OwningOpRef<ModuleOp> before = parse(text), after = differentiate(text);
  ASSERT_TRUE(before && after) << text;
  GradientCheckOptions options;
  options.entries = 1000;
  FailureOr<std::vector<GradientError>> errors =
      checkGradients(function(*before, "forward"), function(*after, "step"), options);
  ASSERT_TRUE(succeeded(errors)) << text;
  ASSERT_EQ(errors->size(), GetParam().parameters.size());
  // The error of the difference is step^2 = 1e-10 times the third derivative, that of rounding 1e-16 / step = 1e-11.
  for (const GradientError &error : *errors)
    EXPECT_LT(error.error, 1e-7) << "@" << error.variable << "\n" << text;
}

INSTANTIATE_TEST_SUITE_P(Arith, GradientRule, ::testing::ValuesIn(arithPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Math, GradientRule, ::testing::ValuesIn(mathPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Matmul, GradientRule, ::testing::ValuesIn(matmulPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Rows, GradientRule, ::testing::ValuesIn(rowPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Shapes, GradientRule, ::testing::ValuesIn(shapePrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Indices, GradientRule, ::testing::ValuesIn(indexPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Attention, GradientRule, ::testing::ValuesIn(attentionPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Windows, GradientRule, ::testing::ValuesIn(windowPrograms()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Where finite differences do not tell
//===----------------------------------------------------------------------===//

/// The gradient of the sum of %y with respect to @a at the given values.
static std::vector<double> gradientAt(const OpProgram &rule, const std::vector<std::vector<double>> &values) {
  OwningOpRef<ModuleOp> module = differentiate(forwardText(rule));
  if (!module)
    return {};
  Interpreter interpreter(*module);
  for (auto [number, value] : llvm::enumerate(values))
    interpreter.setVariable(std::string(1, static_cast<char>('a' + number)),
                            DenseTensor::ofFloats({static_cast<int64_t>(value.size())}, value));
  Shape shape = shapeOf(parseType(rule.result, &contextWithRules()));
  DenseTensor ones = DenseTensor::zeros(shape, true);
  ones.floats.assign(ones.floats.size(), 1.0);
  FailureOr<FunctionRun> run = interpreter.run(function(*module, "step"), {{"weights", ones}});
  return failed(run) ? std::vector<double>() : run->results.at(1).value.floats;
}

TEST(GradientAtTies, maximumSplitsEvenly) {
  OpProgram rule =
      modelProgram("max", "reduce", "tensor<4xf64>", "tensor<f64>", "dims = array<i64: 0>, kind = #ds.reduction<max>");
  EXPECT_THAT(gradientAt(rule, {{1, 3, 3, 2}}), ::testing::ElementsAre(0, 0.5, 0.5, 0));
}

TEST(GradientAtTies, elementwiseMaximumHalves) {
  OpProgram rule{
      "max", {"tensor<3xf64>", "tensor<3xf64>"}, "tensor<3xf64>", "  %y = arith.maximumf %a, %b : tensor<3xf64>", ""};
  EXPECT_THAT(gradientAt(rule, {{1, 2, 3}, {2, 2, 2}}), ::testing::ElementsAre(0, 0.5, 1));
}

/// As of torch.maximum with a constant; ReLU is no maximum.
TEST(GradientAtTies, maximumWithAConstantHalves) {
  OpProgram rule{"max",
                 {"tensor<3xf64>"},
                 "tensor<3xf64>",
                 "  %z = arith.constant dense<0.0> : tensor<f64>\n  %b0 = ds.broadcast %z {dims = array<i64>} : "
                 "(tensor<f64>) -> tensor<3xf64>\n"
                 "  %y = arith.maximumf %a, %b0 : tensor<3xf64>",
                 ""};
  EXPECT_THAT(gradientAt(rule, {{-1, 0, 1}}), ::testing::ElementsAre(0, 0.5, 1));
}

TEST(GradientAtTies, absoluteValueAtZeroIsFlat) {
  OpProgram rule{"abs", {"tensor<3xf64>"}, "tensor<3xf64>", "  %y = math.absf %a : tensor<3xf64>", ""};
  EXPECT_THAT(gradientAt(rule, {{-2, 0, 2}}), ::testing::ElementsAre(-1, 0, 1));
}

TEST(GradientAtTies, powerOfZeroIsFinite) {
  OpProgram rule{
      "pow", {"tensor<2xf64>", "tensor<2xf64>"}, "tensor<2xf64>", "  %y = math.powf %a, %b : tensor<2xf64>", ""};
  EXPECT_THAT(gradientAt(rule, {{0, 0}, {2, 0}}), ::testing::ElementsAre(0, 0));
}

/// The root of a sum of squares, which is a norm.
TEST(GradientAtTies, aNormOfZerosIsFlat) {
  for (const char *root : {"%y = math.sqrt %s : tensor<f64>", "%h = arith.constant dense<0.5> : tensor<f64>\n"
                                                              "  %y = math.powf %s, %h : tensor<f64>"}) {
    OpProgram rule{
        "norm",
        {"tensor<2xf64>"},
        "tensor<f64>",
        "  %q = arith.mulf %a, %a : tensor<2xf64>\n"
        "  %s = ds.reduce %q {dims = array<i64: 0>, kind = #ds.reduction<sum>} : (tensor<2xf64>) -> tensor<f64>\n  " +
            std::string(root),
        ""};
    EXPECT_THAT(gradientAt(rule, {{0, 0}}), ::testing::ElementsAre(0, 0));
    EXPECT_THAT(gradientAt(rule, {{3, 4}}),
                ::testing::ElementsAre(::testing::DoubleNear(0.6, 1e-12), ::testing::DoubleNear(0.8, 1e-12)));
  }
}

/// Where the formula 1 / (1 + exp(-x)) overflows, and where its complement is rounded away.
TEST(GradientAtTies, aSaturatedSigmoidIsFlat) {
  OpProgram rule = modelProgram("sigmoid", "sigmoid", "tensor<4xf64>", "tensor<4xf64>", "");
  EXPECT_THAT(gradientAt(rule, {{-1e4, -800, 800, 1e4}}), ::testing::Each(0));
  rule = modelProgram("softplus", "softplus", "tensor<4xf64>", "tensor<4xf64>", "");
  EXPECT_THAT(gradientAt(rule, {{-1e4, -800, 800, 1e4}}), ::testing::ElementsAre(0, 0, 1, 1));
}

TEST(GradientAtTies, aGeluOfAHugeNumberHasTheSlopeOfALine) {
  OpProgram rule = modelProgram("gelu", "gelu", "tensor<2xf64>", "tensor<2xf64>", "kind = #ds.gelu_kind<tanh>");
  EXPECT_THAT(gradientAt(rule, {{-1e200, 1e200}}), ::testing::ElementsAre(0, 1));
}

//===----------------------------------------------------------------------===//
// Completeness
//===----------------------------------------------------------------------===//

/// Ops with a layout rule and without gradient: their results are integers, they have no operands, they are gradients
/// or updates themselves, or appear only after differentiation.
static const llvm::StringSet<> kWithoutGradient = {"arith.constant",
                                                   "arith.addi",
                                                   "arith.subi",
                                                   "arith.muli",
                                                   "arith.divsi",
                                                   "arith.remsi",
                                                   "arith.floordivsi",
                                                   "arith.andi",
                                                   "arith.ori",
                                                   "arith.xori",
                                                   "arith.maxsi",
                                                   "arith.minsi",
                                                   "arith.cmpf",
                                                   "arith.cmpi",
                                                   "arith.sitofp",
                                                   "arith.uitofp",
                                                   "arith.fptosi",
                                                   "arith.extsi",
                                                   "arith.extui",
                                                   "arith.trunci",
                                                   "math.absi",
                                                   "math.fma",
                                                   "ds.iota",
                                                   "ds.stop_gradient",
                                                   "ds.take_part",
                                                   "ds.adam_update",
                                                   "ds.sgd_update",
                                                   "ds.cross_entropy_grad",
                                                   "ds.attention_grad",
                                                   "ds.convolution_grad_weight",
                                                   "ds.max_pool_grad",
                                                   "ds.scale",
                                                   "ds.divide",
                                                   "ds.where",
                                                   "ds.fused_matmul",
                                                   "ds.fused_attention",
                                                   "ds.fused_attention_grad"};

TEST(GradientRules, exceptIntegersUpdatesAndGradientsEveryOpOfAProgramHasOne) {
  for (RegisteredOperationName name : contextWithRules().getRegisteredOperations()) {
    if (!name.hasInterface<LayoutRuleOpInterface>())
      continue;
    EXPECT_NE(name.hasInterface<DifferentiableOpInterface>(), kWithoutGradient.contains(name.getStringRef()))
        << name.getStringRef().str() << " must have a gradient rule or be listed as without, and not both";
  }
}
