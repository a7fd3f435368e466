// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace ds;

/// scale * query key^T + bias of shape [B, H, S, T], minus infinity where the causal mask hides.
static Value attentionScores(AttentionOp op, StepBuilder &build, Value groupedQuery) {
  ArrayRef<int64_t> q = tensorTypeOf(op.getQuery()).getShape();
  const int64_t t = tensorTypeOf(op.getKey()).getDimSize(2), shape[] = {q[0], q[1], q[2], t};
  Value scores = build.reshape(build.matmul(groupedQuery, op.getKey(), "bkgsd,bktd->bkgst"), shape);
  scores = build.mul(build.widen(scores), op.getScale().convertToDouble());
  scores = build.add(scores, build.expand(build.convert(op.getBias(), scores.getType()), shape));
  if (!op.getCausal())
    return scores;
  auto positions = RankedTensorType::get({q[2], t}, IntegerType::get(op.getContext(), 64));
  Value row = build.value<arith::AddIOp>(build.value<IotaOp>(positions, 0), build.splat(positions, t - q[2]));
  Value isSeen = build.value<arith::CmpIOp>(arith::CmpIPredicate::sge, row, build.value<IotaOp>(positions, 1));
  Value hidden = build.splat(scores.getType(), -std::numeric_limits<double>::infinity());
  return build.select(build.broadcast(isSeen, {2, 3}, shape), scores, hidden);
}

/// With the probabilities p and dp = gradient value^T: p (dp - sum(p dp)), summed over the dims along which the bias
/// repeats.
static Value biasGradient(AttentionOp op, Gradients &g) {
  ArrayRef<int64_t> q = tensorTypeOf(op.getQuery()).getShape(), v = tensorTypeOf(op.getValue()).getShape();
  const int64_t groups = q[1] / v[1], shape[] = {q[0], q[1], q[2], v[2]};
  Value query = g.build.reshape(op.getQuery(), {q[0], v[1], groups, q[2], q[3]});
  Value gradient = g.build.reshape(g.result(), {q[0], v[1], groups, q[2], v[3]});
  Value scores = attentionScores(op, g.build, query);
  Value p = g.build.value<SoftmaxOp>(scores, 3);
  Value dp = g.build.matmul(gradient, op.getValue(), "bkgse,bkte->bkgst");
  dp = g.build.widen(g.build.reshape(dp, shape));
  Value mean = g.build.broadcast(g.build.reduce(g.build.mul(p, dp), {3}), {0, 1, 2}, shape);
  Value full = g.build.mul(p, g.build.sub(dp, mean));
  SmallVector<int64_t> repeated;
  for (int64_t dim = 0; dim < 3; ++dim)
    if (tensorTypeOf(op.getBias()).getDimSize(dim) != shape[dim])
      repeated.push_back(dim);
  Value summed = g.build.reshape(g.build.reduce(full, repeated), tensorTypeOf(op.getBias()).getShape());
  return g.build.convert(summed, op.getBias().getType());
}

static void differentiateAttention(AttentionOp op, Gradients &g) {
  if (g.needed[0] || g.needed[1] || g.needed[2]) {
    auto gradient = g.build.create<AttentionGradOp>(op.getQuery().getType(), op.getKey().getType(),
                                                    op.getValue().getType(), op.getQuery(), op.getKey(), op.getValue(),
                                                    g.result(), op.getBias(), op.getScaleAttr(), op.getCausalAttr());
    llvm::copy(gradient.getResults(), g.operands.begin());
  }
  if (op.getBias() && g.needed[3])
    g.operands[3] = biasGradient(op, g);
}

/// The gradients of cosine and sine, both [S, D/2], with the halves x1, x2 of the input and g1, g2 of the result's
/// gradient: g1 x1 + g2 x2 and g2 x1 - g1 x2, summed over the leading dims.
static void differentiateAngles(RotaryEmbeddingOp op, Gradients &g) {
  int64_t rank = tensorTypeOf(op.getInput()).getRank(), half = tensorTypeOf(op.getCosine()).getDimSize(1);
  auto halfOf = [&](Value value, int64_t number) { return g.build.slice(value, rank - 1, number * half, half); };
  Value x1 = halfOf(op.getInput(), 0), x2 = halfOf(op.getInput(), 1);
  Value g1 = halfOf(g.result(), 0), g2 = halfOf(g.result(), 1);
  SmallVector<int64_t> leading = dimRange(0, rank - 2);
  if (g.needed[1])
    g.operands[1] = g.build.reduce(g.build.add(g.build.mul(g1, x1), g.build.mul(g2, x2)), leading);
  if (g.needed[2])
    g.operands[2] = g.build.reduce(g.build.sub(g.build.mul(g2, x1), g.build.mul(g1, x2)), leading);
}

/// The rotation back.
static void differentiateRotary(RotaryEmbeddingOp op, Gradients &g) {
  if (g.needed[0])
    g.operands[0] =
        g.build.value<RotaryEmbeddingOp>(op.getType(), g.result(), op.getCosine(), g.build.neg(op.getSine()));
  if (g.needed[1] || g.needed[2])
    differentiateAngles(op, g);
}

void ds::attachAttentionGradients(MLIRContext *context) {
  attachRule<AttentionOp, differentiateAttention>(context);
  attachRule<RotaryEmbeddingOp, differentiateRotary>(context);
}
