// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// All but the sigmoid's is computed from the input, so that nothing else has to be kept from the forward pass.

#include "Gradients.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace ds;

/// With the normal distribution's P(x) and density p(x): P(x) + x p(x).
static Value erfGeluSlope(StepBuilder &build, Value x) {
  Value erf = build.value<math::ErfOp>(build.mul(x, std::sqrt(0.5)));
  Value distribution = build.mul(build.add(erf, 1.0), 0.5);
  Value bell = build.value<math::ExpOp>(build.mul(build.mul(x, x), -0.5));
  return build.add(distribution, build.mul(x, build.mul(bell, 1 / std::sqrt(2 * M_PI))));
}

/// With t = tanh(c (x + a x^3)): (1 + t) / 2 + x (1 - t^2) c (1 + 3 a x^2) / 2. Where x is so large that its square
/// would overflow, t is 1 whatever the square is.
static Value tanhGeluSlope(StepBuilder &build, Value x) {
  const double a = 0.044715, c = std::sqrt(2 / M_PI), enough = 1e6;
  Value square = build.mul(x, x);
  square = build.value<arith::MinimumFOp>(square, build.splat(square.getType(), enough));
  Value inner = build.mul(x, build.add(build.mul(square, a * c), c));
  Value t = build.value<math::TanhOp>(inner);
  Value innerSlope = build.add(build.mul(square, 3 * a * c), c);
  Value tanhSlope = build.sub(build.splat(x.getType(), 1), build.mul(t, t));
  Value sum = build.add(build.add(t, 1.0), build.mul(x, build.mul(tanhSlope, innerSlope)));
  return build.mul(sum, 0.5);
}

static void differentiateGelu(GeluOp op, Gradients &g) {
  Value x = g.build.widen(op.getInput());
  Value slope = op.getKind() == GeluKind::Erf ? erfGeluSlope(g.build, x) : tanhGeluSlope(g.build, x);
  g.operands[0] = g.build.convert(g.build.mul(g.build.widen(g.result()), slope), op.getType());
}

/// s (1 - s), from the result: neither overflows, wherever the input is.
static void differentiateSigmoid(SigmoidOp op, Gradients &g) {
  Value s = g.build.widen(op.getResult());
  Value slope = g.build.mul(s, g.build.sub(g.build.splat(s.getType(), 1), s));
  g.operands[0] = g.build.convert(g.build.mul(g.build.widen(g.result()), slope), op.getType());
}

/// The slope is the sigmoid.
static void differentiateSoftplus(SoftplusOp op, Gradients &g) {
  Value x = g.build.widen(op.getInput());
  Value slope = g.build.value<SigmoidOp>(x.getType(), x);
  g.operands[0] = g.build.convert(g.build.mul(g.build.widen(g.result()), slope), op.getType());
}

/// With the sigmoid s: s (1 + x (1 - s)).
static void differentiateSilu(SiluOp op, Gradients &g) {
  Value x = g.build.widen(op.getInput()), one = g.build.splat(x.getType(), 1);
  Value s = g.build.value<SigmoidOp>(x.getType(), x);
  Value slope = g.build.mul(s, g.build.add(g.build.mul(x, g.build.sub(one, s)), 1.0));
  g.operands[0] = g.build.convert(g.build.mul(g.build.widen(g.result()), slope), op.getType());
}

void ds::attachActivationGradients(MLIRContext *context) {
  attachRule<GeluOp, differentiateGelu>(context);
  attachRule<SigmoidOp, differentiateSigmoid>(context);
  attachRule<SiluOp, differentiateSilu>(context);
  attachRule<SoftplusOp, differentiateSoftplus>(context);
}
