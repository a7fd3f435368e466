// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>
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

/// The two halves of the last dim.
static std::array<Value, 2> halvesOf(Value value, StepBuilder &build) {
  const int64_t last = tensorTypeOf(value).getRank() - 1, half = tensorTypeOf(value).getShape().back() / 2;
  return {build.slice(value, last, 0, half), build.slice(value, last, half, half)};
}

/// The gradients of cosine and sine, with g for the result's: g x and g (-x2, x1), summed over the dims, and halves,
/// that share an angle.
static void differentiateAngles(RotaryEmbeddingOp op, Gradients &g) {
  const SmallVector<int64_t> dims = op.getTableDims();
  SmallVector<int64_t> repeated = dimRange(0, tensorTypeOf(op.getInput()).getRank() - 1);
  llvm::erase_if(repeated, [&](int64_t dim) { return llvm::is_contained(dims, dim); });
  auto ofTable = [&](Value factor) {
    Value sum = g.build.reduce(g.build.mul(g.result(), factor), repeated);
    if (op.hasWholeTables())
      return sum;
    auto [first, second] = halvesOf(sum, g.build);
    return g.build.add(first, second);
  };
  if (g.needed[1])
    g.operands[1] = ofTable(op.getInput());
  if (!g.needed[2])
    return;
  auto row = RankedTensorType::get(op.getType().getShape().back() / 2, op.getType().getElementType());
  Value turned =
      g.build.value<RotaryEmbeddingOp>(op.getType(), op.getInput(), g.build.zeros(row), g.build.splat(row, 1));
  g.operands[2] = ofTable(turned);
}

/// The rotation back.
static void differentiateRotary(RotaryEmbeddingOp op, Gradients &g) {
  if (g.needed[0]) {
    Value sine = op.getSine();
    if (op.hasWholeTables()) {
      auto [first, second] = halvesOf(sine, g.build);
      sine = g.build.concat({second, first}, tensorTypeOf(sine).getRank() - 1);
    }
    g.operands[0] =
        g.build.value<RotaryEmbeddingOp>(op.getType(), g.result(), op.getCosine(), g.build.neg(sine), op.getDimsAttr());
  }
  if (g.needed[1] || g.needed[2])
    differentiateAngles(op, g);
}

void ds::attachAttentionGradients(MLIRContext *context) {
  attachRule<AttentionOp, differentiateAttention>(context);
  attachRule<RotaryEmbeddingOp, differentiateRotary>(context);
}
