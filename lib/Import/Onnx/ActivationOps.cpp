// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Activations, in elementwise primitives.

#include "Registry.h"

using namespace mlir;
using namespace ds::onnx_import;

static LogicalResult importRelu(NodeContext &context) {
  return context.finish(context.build.binary(Binary::Max, context.input(0), context.build.scalar(context.input(0), 0)));
}

/// 1 / (1 + exp(-x)).
static Tensor sigmoid(TensorBuilder &build, const Tensor &input) {
  Tensor power = build.unary(Unary::Exp, build.unary(Unary::Neg, input));
  return build.unary(Unary::Reciprocal, build.binary(Binary::Add, power, build.scalar(input, 1)));
}

static LogicalResult importSigmoid(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  return context.finish(sigmoid(context.build, context.input(0)));
}

static LogicalResult importLeakyRelu(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  TensorBuilder &build = context.build;
  const Tensor &input = context.input(0);
  Tensor scaled = build.binary(Binary::Mul, input, build.scalar(input, context.floatAttribute("alpha", 0.01)));
  return context.finish(build.select(build.compare(Comparison::Less, input, build.scalar(input, 0)), scaled, input));
}

/// max(0, min(1, alpha x + beta)).
static Tensor hardSigmoid(TensorBuilder &build, const Tensor &input, double alpha, double beta) {
  Tensor line = build.binary(Binary::Add, build.binary(Binary::Mul, input, build.scalar(input, alpha)),
                             build.scalar(input, beta));
  return build.binary(Binary::Max, build.binary(Binary::Min, line, build.scalar(input, 1)), build.scalar(input, 0));
}

static LogicalResult importHardSigmoid(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  return context.finish(hardSigmoid(context.build, context.input(0), context.floatAttribute("alpha", 0.2f),
                                    context.floatAttribute("beta", 0.5)));
}

static LogicalResult importHardSwish(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  const Tensor &input = context.input(0);
  return context.finish(context.build.binary(Binary::Mul, input, hardSigmoid(context.build, input, 1.0 / 6, 0.5)));
}

void ds::onnx_import::addActivationOps(Registry &registry) {
  registry.add("Relu", 6, 1, 1, importRelu);
  registry.add("Sigmoid", 6, 1, 1, importSigmoid);
  registry.add("LeakyRelu", 6, 1, 1, importLeakyRelu);
  registry.add("HardSigmoid", 6, 1, 1, importHardSigmoid);
  registry.add("HardSwish", 14, 1, 1, importHardSwish);
}
