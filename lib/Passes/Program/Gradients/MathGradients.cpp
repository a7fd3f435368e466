// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "ds/Dialect/Splat.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace ds;

using Predicate = arith::CmpFPredicate;

static void differentiateExp(math::ExpOp op, Gradients &g) { g.operands[0] = g.build.mul(g.result(), op.getResult()); }

static void differentiateLog(math::LogOp op, Gradients &g) { g.operands[0] = g.build.div(g.result(), op.getOperand()); }

static void differentiateExpm1(math::ExpM1Op op, Gradients &g) {
  g.operands[0] = g.build.mul(g.result(), g.build.add(op.getResult(), 1.0));
}

static void differentiateLog1p(math::Log1pOp op, Gradients &g) {
  g.operands[0] = g.build.div(g.result(), g.build.add(op.getOperand(), 1.0));
}

/// The gradient at 0, where the slope is infinite, is 0: it is that of a norm of zeros and of the deviation of equal
/// numbers, which files spell by roots, and which have the gradient 0 in PyTorch.
static void differentiateSqrt(math::SqrtOp op, Gradients &g) {
  Value root = op.getResult(), isZero = g.build.compare(Predicate::OEQ, root, g.build.zeros(root.getType()));
  Value gradient = g.build.div(g.build.mul(g.result(), 0.5), root);
  g.operands[0] = g.build.select(isZero, g.build.zeros(root.getType()), gradient);
}

static void differentiateRsqrt(math::RsqrtOp op, Gradients &g) {
  Value y = op.getResult();
  g.operands[0] = g.build.mul(g.build.mul(g.result(), -0.5), g.build.mul(g.build.mul(y, y), y));
}

static void differentiateTanh(math::TanhOp op, Gradients &g) {
  Value y = op.getResult();
  Value slope = g.build.sub(g.build.splat(y.getType(), 1), g.build.mul(y, y));
  g.operands[0] = g.build.mul(g.result(), slope);
}

/// 2 / sqrt(pi) exp(-x^2).
static void differentiateErf(math::ErfOp op, Gradients &g) {
  Value x = op.getOperand();
  Value bell = g.build.value<math::ExpOp>(g.build.neg(g.build.mul(x, x)));
  g.operands[0] = g.build.mul(g.build.mul(g.result(), 2 / std::sqrt(M_PI)), bell);
}

static void differentiateSin(math::SinOp op, Gradients &g) {
  g.operands[0] = g.build.mul(g.result(), g.build.value<math::CosOp>(op.getOperand()));
}

static void differentiateCos(math::CosOp op, Gradients &g) {
  g.operands[0] = g.build.neg(g.build.mul(g.result(), g.build.value<math::SinOp>(op.getOperand())));
}

/// The gradient at 0 is 0.
static void differentiateAbs(math::AbsFOp op, Gradients &g) {
  Value x = op.getOperand(), zero = g.build.zeros(x.getType());
  Value left = g.build.keepWhere(g.build.compare(Predicate::OLT, x, zero), g.build.neg(g.result()));
  g.operands[0] = g.build.select(g.build.compare(Predicate::OGT, x, zero), g.result(), left);
}

/// exponent * base^(exponent - 1) for a constant exponent, without a power where that is small.
static Value constantPowerSlope(Value base, double exponent, StepBuilder &build) {
  if (exponent == 0 || exponent == 1)
    return build.splat(base.getType(), exponent);
  Value lower = exponent == 2   ? base
                : exponent == 3 ? build.mul(base, base)
                                : build.value<math::PowFOp>(base, build.splat(base.getType(), exponent - 1));
  return build.mul(lower, exponent);
}

/// Zero at a base of zero if that is where the slope is infinite: such a power is the root of a norm, as in the rule of
/// the square root.
static Value powerSlope(math::PowFOp op, StepBuilder &build) {
  Value base = op.getLhs(), exponent = op.getRhs(), zero = build.zeros(base.getType());
  Value isRoot = build.compare(Predicate::OEQ, base, zero);
  if (std::optional<double> splat = findSplat(exponent)) {
    Value slope = constantPowerSlope(base, *splat, build);
    return *splat < 1 ? build.select(isRoot, zero, slope) : slope;
  }
  Value lower = build.value<math::PowFOp>(base, build.add(exponent, -1.0));
  Value isBelowOne = build.compare(Predicate::OLT, exponent, build.splat(exponent.getType(), 1));
  Value isConstant = build.compare(Predicate::OEQ, exponent, zero);
  Value isFlat = build.value<arith::OrIOp>(isConstant, build.value<arith::AndIOp>(isRoot, isBelowOne));
  return build.select(isFlat, zero, build.mul(exponent, lower));
}

/// The exponent's gradient y log(base) is zero where the base is zero and the exponent is not negative, as is the
/// slope.
static void differentiatePow(math::PowFOp op, Gradients &g) {
  if (g.needed[0])
    g.operands[0] = g.build.mul(g.result(), powerSlope(op, g.build));
  if (!g.needed[1])
    return;
  Value base = op.getLhs(), zero = g.build.zeros(base.getType());
  Value baseIsZero = g.build.compare(Predicate::OEQ, base, zero);
  Value isFlat = g.build.value<arith::AndIOp>(baseIsZero, g.build.compare(Predicate::OGE, op.getRhs(), zero));
  Value slope = g.build.mul(op.getResult(), g.build.value<math::LogOp>(base));
  g.operands[1] = g.build.mul(g.result(), g.build.select(isFlat, zero, slope));
}

/// Steps are flat.
template <typename OpT> static void differentiateStep(OpT, Gradients &) {}

void ds::attachMathGradients(MLIRContext *context) {
  attachRule<math::AbsFOp, differentiateAbs>(context);
  attachRule<math::CeilOp, differentiateStep<math::CeilOp>>(context);
  attachRule<math::CosOp, differentiateCos>(context);
  attachRule<math::ErfOp, differentiateErf>(context);
  attachRule<math::ExpM1Op, differentiateExpm1>(context);
  attachRule<math::ExpOp, differentiateExp>(context);
  attachRule<math::FloorOp, differentiateStep<math::FloorOp>>(context);
  attachRule<math::Log1pOp, differentiateLog1p>(context);
  attachRule<math::LogOp, differentiateLog>(context);
  attachRule<math::PowFOp, differentiatePow>(context);
  attachRule<math::RoundEvenOp, differentiateStep<math::RoundEvenOp>>(context);
  attachRule<math::RsqrtOp, differentiateRsqrt>(context);
  attachRule<math::SinOp, differentiateSin>(context);
  attachRule<math::SqrtOp, differentiateSqrt>(context);
  attachRule<math::TanhOp, differentiateTanh>(context);
}
