// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Softmaxes from their result, norms from their input: statistics are computed again, in f32 at least.

#include "Gradients.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ds;

/// The sum of each row along `dim`, repeated along it.
static Value repeatedSum(StepBuilder &build, Value value, int64_t dim) {
  ArrayRef<int64_t> shape = tensorTypeOf(value).getShape();
  SmallVector<int64_t> others = dimRange(0, shape.size());
  others.erase(others.begin() + dim);
  return build.broadcast(build.reduce(value, {dim}), others, shape);
}

/// y (g - sum(y g)).
static void differentiateSoftmax(SoftmaxOp op, Gradients &g) {
  Value y = g.build.widen(op.getResult()), gradient = g.build.widen(g.result());
  Value sum = repeatedSum(g.build, g.build.mul(y, gradient), op.getDim());
  g.operands[0] = g.build.convert(g.build.mul(y, g.build.sub(gradient, sum)), op.getType());
}

/// g - exp(y) sum(g).
static void differentiateLogSoftmax(LogSoftmaxOp op, Gradients &g) {
  Value y = g.build.widen(op.getResult()), gradient = g.build.widen(g.result());
  Value sum = repeatedSum(g.build, gradient, op.getDim());
  Value spread = g.build.mul(g.build.value<math::ExpOp>(y), sum);
  g.operands[0] = g.build.convert(g.build.sub(gradient, spread), op.getType());
}

namespace {

/// The rows of a norm: the last rank(scale) dims of its input.
class Rows {
public:
  Rows(StepBuilder &build, Value input, Value scale)
      : build(build), shape(tensorTypeOf(input).getShape()),
        leading(dimRange(0, shape.size() - tensorTypeOf(scale).getRank())), row(dimRange(leading.size(), shape.size())),
        size(tensorTypeOf(scale).getNumElements()) {}

  /// One number per row, repeated along it.
  Value repeat(Value numbers) { return build.broadcast(numbers, leading, shape); }
  /// The mean of each row, to be subtracted: by a division, so that nothing is left of equal numbers.
  Value mean(Value value) {
    Value sum = build.reduce(value, row);
    return build.div(sum, build.splat(sum.getType(), static_cast<double>(size)));
  }
  /// 1 / sqrt(mean of squares + epsilon), repeated along each row.
  Value reciprocalDeviation(Value value, double epsilon) {
    Value squares = build.mul(build.reduce(build.mul(value, value), row), 1.0 / size);
    return repeat(build.value<math::RsqrtOp>(build.add(squares, epsilon)));
  }
  /// A value of the shape of one row, in every row.
  Value everywhere(Value value) { return build.broadcast(value, row, shape); }
  /// The sum over all rows.
  Value sumOfRows(Value value) { return build.reduce(value, leading); }

private:
  StepBuilder &build;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> leading, row;
  int64_t size;
};

} // namespace

/// With the normalized input n and h = g scale: deviation (h - n mean(h n)), and for a norm that subtracts the mean
/// also minus mean(h). The scale's gradient is the sum over rows of g n.
template <typename OpT> static void differentiateNorm(OpT op, Gradients &g, bool isCentred) {
  Rows rows(g.build, op.getInput(), op.getScale());
  Value x = g.build.widen(op.getInput()), gradient = g.build.widen(g.result());
  if (isCentred)
    x = g.build.sub(x, rows.repeat(rows.mean(x)));
  Value deviation = rows.reciprocalDeviation(x, op.getEpsilon().convertToDouble());
  Value normalized = g.build.mul(x, deviation);
  if (g.needed[1])
    g.operands[1] = g.build.convert(rows.sumOfRows(g.build.mul(gradient, normalized)), op.getScale().getType());
  if (!g.needed[0])
    return;
  Value scaled = g.build.mul(gradient, rows.everywhere(g.build.widen(op.getScale())));
  Value along = rows.repeat(rows.mean(g.build.mul(scaled, normalized)));
  Value across = g.build.sub(scaled, g.build.mul(normalized, along));
  if (isCentred)
    across = g.build.sub(across, rows.repeat(rows.mean(scaled)));
  g.operands[0] = g.build.convert(g.build.mul(deviation, across), op.getType());
}

static void differentiateRmsNorm(RmsNormOp op, Gradients &g) { differentiateNorm(op, g, /*isCentred=*/false); }

static void differentiateLayerNorm(LayerNormOp op, Gradients &g) {
  if (g.needed[0] || g.needed[1])
    differentiateNorm(op, g, /*isCentred=*/true);
  if (!op.getBias() || !g.needed[2])
    return;
  Rows rows(g.build, op.getInput(), op.getScale());
  g.operands[2] = g.build.convert(rows.sumOfRows(g.build.widen(g.result())), op.getBias().getType());
}

void ds::attachNormGradients(MLIRContext *context) {
  attachRule<LayerNormOp, differentiateLayerNorm>(context);
  attachRule<LogSoftmaxOp, differentiateLogSoftmax>(context);
  attachRule<RmsNormOp, differentiateRmsNorm>(context);
  attachRule<SoftmaxOp, differentiateSoftmax>(context);
}
