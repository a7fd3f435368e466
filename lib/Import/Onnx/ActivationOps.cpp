// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Activations, in elementwise primitives.

#include "Registry.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

/// A select, not a maximum, whose gradient would be halved at 0. NaN stays.
static LogicalResult importRelu(NodeContext &context) {
  TensorBuilder &build = context.build;
  const Tensor &input = context.input(0);
  Tensor zero = build.scalar(input, 0);
  return context.finish(build.select(build.compare(Comparison::LessOrEqual, input, zero), zero, input));
}

/// Of known elements 1 / (1 + exp(-x)), else an op of its own for its gradient.
static Tensor sigmoid(TensorBuilder &build, const Tensor &input) {
  if (!input.isHost())
    return build.emit<SigmoidOp>(input.getValue().getType(), input.getValue());
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
  // The gradient at 0 is that of negative inputs.
  return context.finish(build.select(build.compare(Comparison::Greater, input, build.scalar(input, 0)), input, scaled));
}

/// max(0, min(1, alpha x + beta)), with the gradient 0 where the line meets its bounds.
static Tensor hardSigmoid(TensorBuilder &build, const Tensor &input, double alpha, double beta) {
  Tensor line = build.binary(Binary::Add, build.binary(Binary::Mul, input, build.scalar(input, alpha)),
                             build.scalar(input, beta));
  return build.bounded(line, build.scalar(input, 0), build.scalar(input, 1), /*boundsWin=*/true);
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

static LogicalResult importGelu(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  const std::string kind = context.stringAttribute("approximate", "none");
  if (kind != "none" && kind != "tanh")
    return context.malformed("must approximate by 'none' or 'tanh', got '" + kind + "'");
  Value value = context.build.materialize(context.input(0));
  return context.finish(
      context.build.emit<GeluOp>(value.getType(), value, kind == "tanh" ? GeluKind::Tanh : GeluKind::Erf));
}

void ds::onnx_import::addActivationOps(Registry &registry) {
  registry.add("Relu", 6, 1, 1, importRelu);
  registry.add("Sigmoid", 6, 1, 1, importSigmoid);
  registry.add("LeakyRelu", 6, 1, 1, importLeakyRelu);
  registry.add("HardSigmoid", 6, 1, 1, importHardSigmoid);
  registry.add("HardSwish", 14, 1, 1, importHardSwish);
  registry.add("Gelu", 20, 1, 1, importGelu);
}
