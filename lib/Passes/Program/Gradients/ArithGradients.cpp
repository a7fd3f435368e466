// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

using namespace mlir;
using namespace ds;

using Predicate = arith::CmpFPredicate;

static void differentiateAdd(arith::AddFOp, Gradients &g) { g.operands[0] = g.operands[1] = g.result(); }

static void differentiateSub(arith::SubFOp, Gradients &g) {
  g.operands[0] = g.result();
  if (g.needed[1])
    g.operands[1] = g.build.neg(g.result());
}

static void differentiateMul(arith::MulFOp op, Gradients &g) {
  if (g.needed[0])
    g.operands[0] = g.build.mul(g.result(), op.getRhs());
  if (g.needed[1])
    g.operands[1] = g.build.mul(g.result(), op.getLhs());
}

static void differentiateDiv(arith::DivFOp op, Gradients &g) {
  Value quotient = g.build.div(g.result(), op.getRhs());
  g.operands[0] = quotient;
  if (g.needed[1])
    g.operands[1] = g.build.neg(g.build.mul(quotient, op.getResult()));
}

/// a - b trunc(a / b), so the divisor's factor is -trunc(a / b) = (remainder - a) / b.
static void differentiateRem(arith::RemFOp op, Gradients &g) {
  g.operands[0] = g.result();
  if (!g.needed[1])
    return;
  Value factor = g.build.div(g.build.sub(op.getResult(), op.getLhs()), op.getRhs());
  g.operands[1] = g.build.mul(g.result(), factor);
}

static void differentiateNeg(arith::NegFOp, Gradients &g) { g.operands[0] = g.build.neg(g.result()); }

/// The branch that was not taken gets zero, also where it holds NaN.
static void differentiateSelect(arith::SelectOp op, Gradients &g) {
  Value zero = g.build.zeros(g.result().getType());
  if (g.needed[1])
    g.operands[1] = g.build.select(op.getCondition(), g.result(), zero);
  if (g.needed[2])
    g.operands[2] = g.build.select(op.getCondition(), zero, g.result());
}

template <typename OpT> static void differentiateConversion(OpT op, Gradients &g) {
  g.operands[0] = g.build.convert(g.result(), op.getIn().getType());
}

/// The gradient goes to the operand that wins (`wins`: its predicate against the other) and halves between equal ones,
/// a constant too, as in PyTorch. What has other gradients at a tie (ReLU, a clip) is spelt by selects.
template <typename OpT, Predicate wins> static void differentiateExtremum(OpT op, Gradients &g) {
  Value operands[] = {op.getLhs(), op.getRhs()};
  for (unsigned i : {0u, 1u}) {
    if (!g.needed[i])
      continue;
    Value own = operands[i], other = operands[1 - i];
    Value strict = g.build.keepWhere(g.build.compare(wins, own, other), g.result());
    Value isEqual = g.build.compare(Predicate::OEQ, own, other);
    g.operands[i] = g.build.select(isEqual, g.build.mul(g.result(), 0.5), strict);
  }
}

void ds::attachArithGradients(MLIRContext *context) {
  attachRule<arith::AddFOp, differentiateAdd>(context);
  attachRule<arith::SubFOp, differentiateSub>(context);
  attachRule<arith::MulFOp, differentiateMul>(context);
  attachRule<arith::DivFOp, differentiateDiv>(context);
  attachRule<arith::RemFOp, differentiateRem>(context);
  attachRule<arith::NegFOp, differentiateNeg>(context);
  attachRule<arith::SelectOp, differentiateSelect>(context);
  attachRule<arith::ExtFOp, differentiateConversion<arith::ExtFOp>>(context);
  attachRule<arith::TruncFOp, differentiateConversion<arith::TruncFOp>>(context);
  attachRule<arith::MaximumFOp, differentiateExtremum<arith::MaximumFOp, Predicate::OGT>>(context);
  attachRule<arith::MinimumFOp, differentiateExtremum<arith::MinimumFOp, Predicate::OLT>>(context);
}
