// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Operators that are one elementwise primitive.

#include "Registry.h"

using namespace mlir;
using namespace ds::onnx_import;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

template <Unary kind> static LogicalResult importUnary(NodeContext &context) {
  return context.finish(context.build.unary(kind, context.input(0)));
}

template <Unary kind> static LogicalResult importFloatUnary(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  return importUnary<kind>(context);
}

static LogicalResult importNot(NodeContext &context) {
  if (failed(context.expectBool(0)))
    return failure();
  return importUnary<Unary::Not>(context);
}

static LogicalResult importIsNan(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  const Tensor &input = context.input(0);
  return context.finish(context.build.unary(Unary::Not, context.build.compare(Comparison::Equal, input, input)));
}

static LogicalResult importSign(NodeContext &context) {
  const Tensor &input = context.input(0);
  TensorBuilder &build = context.build;
  Tensor zero = build.scalar(input, 0);
  Tensor negative = build.select(build.compare(Comparison::Less, input, zero), build.scalar(input, -1), input);
  return context.finish(
      build.select(build.compare(Comparison::Greater, input, zero), build.scalar(input, 1), negative));
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static LogicalResult expectBroadcast(NodeContext &context) {
  if (failed(context.expectSameElement(0, 1)))
    return failure();
  return context.broadcast(context.input(0).shape(), context.input(1).shape());
}

template <Binary kind> static LogicalResult importBinary(NodeContext &context) {
  if (failed(expectBroadcast(context)))
    return failure();
  return context.finish(context.build.binary(kind, context.input(0), context.input(1)));
}

template <Binary kind> static LogicalResult importLogical(NodeContext &context) {
  if (failed(context.expectBool(0)) || failed(context.expectBool(1)))
    return failure();
  return importBinary<kind>(context);
}

template <Comparison kind> static LogicalResult importComparison(NodeContext &context) {
  if (failed(expectBroadcast(context)))
    return failure();
  return context.finish(context.build.compare(kind, context.input(0), context.input(1)));
}

template <Binary kind> static LogicalResult importVariadic(NodeContext &context) {
  Tensor result = context.input(0);
  for (unsigned i = 1; i < context.inputs.size(); ++i) {
    if (!context.hasInput(i) || failed(context.expectSameElement(0, i)))
      return context.malformed("must have all inputs, of one element type");
    if (failed(context.broadcast(result.shape(), context.input(i).shape())))
      return failure();
    result = context.build.binary(kind, result, context.input(i));
  }
  return context.finish(result);
}

static LogicalResult importMod(NodeContext &context) {
  bool truncates = context.intAttribute("fmod", 0) != 0;
  if (!truncates && isFloat(context.input(0).element()))
    return context.malformed("must have fmod = 1 for floats");
  return truncates ? importBinary<Binary::Remainder>(context) : importBinary<Binary::Mod>(context);
}

/// Small known exponents are spelt as products and roots.
static std::optional<Tensor> importKnownPower(TensorBuilder &build, const Tensor &base, double exponent) {
  if (exponent == 1)
    return base;
  if (exponent == 2)
    return build.binary(Binary::Mul, base, base);
  if (exponent == 3)
    return build.binary(Binary::Mul, build.binary(Binary::Mul, base, base), base);
  if (!isFloat(base.element()))
    return std::nullopt;
  if (exponent == 0.5)
    return build.unary(Unary::Sqrt, base);
  if (exponent == -0.5)
    return build.unary(Unary::Reciprocal, build.unary(Unary::Sqrt, base));
  if (exponent == -1)
    return build.unary(Unary::Reciprocal, base);
  return std::nullopt;
}

static LogicalResult importPow(NodeContext &context) {
  const Tensor &base = context.input(0);
  if (failed(context.broadcast(base.shape(), context.input(1).shape())))
    return failure();
  // A parameter is trained, whatever its value is.
  const Tensor &exponent = context.input(1);
  if (!base.isHost() && exponent.isHost() && exponent.count() == 1 && exponent.rank() <= base.rank())
    if (std::optional<Tensor> power = importKnownPower(context.build, base, exponent.getHost().real(0)))
      return context.finish(*power);
  return context.finish(context.build.binary(Binary::Pow, base, context.build.cast(exponent, base.element())));
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static LogicalResult importWhere(NodeContext &context) {
  if (failed(context.expectBool(0)) || failed(context.expectSameElement(1, 2)))
    return failure();
  FailureOr<Dims> values = context.broadcast(context.input(1).shape(), context.input(2).shape());
  if (failed(values) || failed(context.broadcast(context.input(0).shape(), *values)))
    return failure();
  return context.finish(context.build.select(context.input(0), context.input(1), context.input(2)));
}

/// Exporters write ReLU6 so, whose gradient at its bounds is 0; that of other clips is the input's.
static bool isRelu6(const Tensor &lower, const Tensor &upper) {
  auto is = [](const Tensor &bound, double number) {
    return bound && bound.isHost() && isFloat(bound.element()) && bound.getHost().real(0) == number;
  };
  return is(lower, 0) && is(upper, 6);
}

/// Before opset 11 bounds are attributes.
static LogicalResult importClipByAttributes(NodeContext &context) {
  if (failed(context.expectFloat(0)))
    return failure();
  TensorBuilder &build = context.build;
  const Tensor &input = context.input(0);
  const auto boundOf = [&](StringRef name) {
    return context.hasAttribute(name) ? build.scalar(input, context.floatAttribute(name, 0)) : Tensor();
  };
  const Tensor lower = boundOf("min"), upper = boundOf("max");
  return context.finish(build.bounded(input, lower, upper, isRelu6(lower, upper)));
}

/// Bounds may be computed, or trained.
static LogicalResult importClip(NodeContext &context) {
  TensorBuilder &build = context.build;
  Tensor bounds[2], result = context.input(0);
  for (unsigned i : {1u, 2u}) {
    if (!context.hasInput(i))
      continue;
    if (failed(context.expectSameElement(0, i)))
      return failure();
    if (context.input(i).count() != 1)
      return context.malformed("must have scalars as bounds, got shape " + textOf(context.input(i).shape()));
    bounds[i - 1] = build.reshape(context.input(i), {});
  }
  if (isFloat(result.element()))
    return context.finish(build.bounded(result, bounds[0], bounds[1], isRelu6(bounds[0], bounds[1])));
  // Integers have no gradient.
  for (unsigned i : {0u, 1u})
    if (bounds[i])
      result = build.binary(i == 0 ? Binary::Max : Binary::Min, result, bounds[i]);
  return context.finish(result);
}

void ds::onnx_import::addElementwiseOps(Registry &registry) {
  registry.add("Neg", 6, 1, 1, importUnary<Unary::Neg>);
  registry.add("Abs", 6, 1, 1, importUnary<Unary::Abs>);
  registry.add("Sign", 9, 1, 1, importSign);
  registry.add("Not", 1, 1, 1, importNot);
  registry.add("IsNaN", 9, 1, 1, importIsNan);
  registry.add("Sqrt", 6, 1, 1, importFloatUnary<Unary::Sqrt>);
  registry.add("Exp", 6, 1, 1, importFloatUnary<Unary::Exp>);
  registry.add("Log", 6, 1, 1, importFloatUnary<Unary::Log>);
  registry.add("Sin", 7, 1, 1, importFloatUnary<Unary::Sin>);
  registry.add("Cos", 7, 1, 1, importFloatUnary<Unary::Cos>);
  registry.add("Tanh", 6, 1, 1, importFloatUnary<Unary::Tanh>);
  registry.add("Erf", 9, 1, 1, importFloatUnary<Unary::Erf>);
  registry.add("Floor", 6, 1, 1, importFloatUnary<Unary::Floor>);
  registry.add("Ceil", 6, 1, 1, importFloatUnary<Unary::Ceil>);
  registry.add("Round", 11, 1, 1, importFloatUnary<Unary::Round>);
  registry.add("Reciprocal", 6, 1, 1, importFloatUnary<Unary::Reciprocal>);
  registry.add("Add", 7, 2, 2, importBinary<Binary::Add>);
  registry.add("Sub", 7, 2, 2, importBinary<Binary::Sub>);
  registry.add("Mul", 7, 2, 2, importBinary<Binary::Mul>);
  registry.add("Div", 7, 2, 2, importBinary<Binary::Div>);
  registry.add("Mod", 10, 2, 2, importMod);
  registry.add("Pow", 7, 2, 2, importPow);
  registry.add("Min", 6, 1, kAnyNumber, importVariadic<Binary::Min>);
  registry.add("Max", 6, 1, kAnyNumber, importVariadic<Binary::Max>);
  registry.add("Sum", 6, 1, kAnyNumber, importVariadic<Binary::Add>);
  registry.add("And", 7, 2, 2, importLogical<Binary::And>);
  registry.add("Or", 7, 2, 2, importLogical<Binary::Or>);
  registry.add("Xor", 7, 2, 2, importLogical<Binary::Xor>);
  registry.add("Equal", 7, 2, 2, importComparison<Comparison::Equal>);
  registry.add("Less", 7, 2, 2, importComparison<Comparison::Less>);
  registry.add("LessOrEqual", 12, 2, 2, importComparison<Comparison::LessOrEqual>);
  registry.add("Greater", 7, 2, 2, importComparison<Comparison::Greater>);
  registry.add("GreaterOrEqual", 12, 2, 2, importComparison<Comparison::GreaterOrEqual>);
  registry.add("Where", 9, 3, 3, importWhere);
  registry.add("Clip", 6, 1, 1, importClipByAttributes);
  registry.add("Clip", 11, 1, 3, importClip);
}
