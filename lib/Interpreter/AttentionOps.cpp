// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ds;

namespace {
/// The attention of one rank: its local extents and its probabilities.
class LocalAttention {
public:
  LocalAttention(LocalCall &call, double scale, bool isCausal, int biasOperand)
      : query(call.operand(0)), key(call.operand(1)), value(call.operand(2)),
        bias(biasOperand < 0 ? nullptr : &call.operand(biasOperand)), scale(scale), isCausal(isCausal),
        rowPositions(call.operandPlacements[0]->positions(call.rank, 2)),
        shift(call.operandPlacements[1]->shape()[2] - call.operandPlacements[0]->shape()[2]) {
    batches = query.shape[0], heads = query.shape[1], rows = query.shape[2], width = query.shape[3];
    keyHeads = key.shape[1], columns = key.shape[2], valueWidth = value.shape[3];
  }

  LogicalResult check(LocalCall &call) const {
    if (failed(call.requireWhole(1, 2)) || failed(call.requireWhole(0, 3)))
      return failure();
    if (key.shape != Shape{batches, keyHeads, columns, width} ||
        value.shape != Shape{batches, keyHeads, columns, valueWidth})
      return call.fail("query, key and value must have one local batch, and key and value one shape but for the width");
    if (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0)
      return call.fail("local query heads must be a multiple of the local key heads, got " + Twine(heads) + " and " +
                       Twine(keyHeads));
    const Shape full = {batches, heads, rows, columns};
    for (size_t dim = 0; bias && dim < 4; ++dim)
      if (bias->shape[dim] != full[dim] && bias->shape[dim] != 1)
        return call.fail("local dim " + Twine(dim) + " of the bias must be 1 or " + Twine(full[dim]) + ", got " +
                         Twine(bias->shape[dim]));
    return success();
  }

  int64_t queryRow(int64_t b, int64_t h, int64_t s) const { return (b * heads + h) * rows + s; }
  int64_t keyRow(int64_t b, int64_t h, int64_t t) const {
    return (b * keyHeads + h / (heads / keyHeads)) * columns + t;
  }

  /// The probabilities of query row (b, h, s) over all positions.
  void findProbabilities(int64_t b, int64_t h, int64_t s, std::vector<double> &result) const {
    result.assign(columns, -std::numeric_limits<double>::infinity());
    const double *q = query.floats.data() + queryRow(b, h, s) * width;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    const int64_t visible = isCausal ? std::min(columns, rowPositions[s] + shift + 1) : columns;
    for (int64_t t = 0; t < visible; ++t) {
      const double *k = key.floats.data() + keyRow(b, h, t) * width;
      double score = 0;
      for (int64_t i = 0; i < width; ++i)
        score += q[i] * k[i];
      result[t] = scale * score + biasAt(b, h, s, t);
      largest = foldFloats(ReduceKind::Max, largest, result[t]);
    }
    for (double &x : result) {
      x = std::exp(x - largest);
      sum += x;
    }
    for (double &x : result)
      x /= sum;
  }

  const DenseTensor &query, &key, &value;
  const DenseTensor *bias;
  double scale;
  bool isCausal;
  int64_t batches, heads, rows, width, keyHeads, columns, valueWidth;

private:
  double biasAt(int64_t b, int64_t h, int64_t s, int64_t t) const {
    if (!bias)
      return 0;
    const Shape &shape = bias->shape;
    const int64_t coordinates[] = {b, h, s, t};
    int64_t index = 0;
    for (size_t dim = 0; dim < 4; ++dim)
      index = index * shape[dim] + (shape[dim] == 1 ? 0 : coordinates[dim]);
    return bias->floats[index];
  }

  std::vector<int64_t> rowPositions; ///< global positions of the query's rows
  int64_t shift;                     ///< T - S
};
} // namespace

static LogicalResult attention(LocalCall &call) {
  auto op = cast<AttentionOp>(call.op);
  const LocalAttention a(call, op.getScale().convertToDouble(), op.getCausal(), op.getBias() ? 3 : -1);
  if (failed(a.check(call)) || failed(call.requireShape({a.batches, a.heads, a.rows, a.valueWidth})))
    return failure();
  std::vector<double> probabilities;
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t s = 0; s < a.rows; ++s) {
        a.findProbabilities(b, h, s, probabilities);
        double *out = call.result().floats.data() + a.queryRow(b, h, s) * a.valueWidth;
        for (int64_t t = 0; t < a.columns; ++t) {
          const double *v = a.value.floats.data() + a.keyRow(b, h, t) * a.valueWidth;
          for (int64_t i = 0; i < a.valueWidth; ++i)
            out[i] += probabilities[t] * v[i];
        }
      }
  return success();
}

/// Adds what query row (b, h, s) gives to the gradients of query, key and value.
static void addGradientsOfRow(LocalCall &call, const LocalAttention &a, int64_t b, int64_t h, int64_t s) {
  std::vector<double> probabilities, gradients(a.columns, 0.0);
  a.findProbabilities(b, h, s, probabilities);
  const double *incoming = call.operand(3).floats.data() + a.queryRow(b, h, s) * a.valueWidth;
  double mean = 0;
  for (int64_t t = 0; t < a.columns; ++t) {
    const int64_t row = a.keyRow(b, h, t) * a.valueWidth;
    for (int64_t i = 0; i < a.valueWidth; ++i) {
      gradients[t] += incoming[i] * a.value.floats[row + i];
      call.result(2).floats[row + i] += probabilities[t] * incoming[i];
    }
    mean += probabilities[t] * gradients[t];
  }
  const int64_t queryRow = a.queryRow(b, h, s) * a.width;
  for (int64_t t = 0; t < a.columns; ++t) {
    const double score = a.scale * probabilities[t] * (gradients[t] - mean);
    const int64_t row = a.keyRow(b, h, t) * a.width;
    for (int64_t i = 0; i < a.width; ++i) {
      call.result(0).floats[queryRow + i] += score * a.key.floats[row + i];
      call.result(1).floats[row + i] += score * a.query.floats[queryRow + i];
    }
  }
}

static LogicalResult attentionGrad(LocalCall &call) {
  auto op = cast<AttentionGradOp>(call.op);
  const LocalAttention a(call, op.getScale().convertToDouble(), op.getCausal(), op.getBias() ? 4 : -1);
  if (failed(a.check(call)))
    return failure();
  for (unsigned number = 0; number < 3; ++number)
    if (failed(call.requireShape(call.operand(number).shape, number)))
      return failure();
  if (call.operand(3).shape != Shape{a.batches, a.heads, a.rows, a.valueWidth})
    return call.fail("gradient must have the local shape of the attention's result");
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t s = 0; s < a.rows; ++s)
        addGradientsOfRow(call, a, b, h, s);
  return success();
}

static LogicalResult rotaryEmbedding(LocalCall &call) {
  const DenseTensor &input = call.operand(0), &cosine = call.operand(1), &sine = call.operand(2);
  const size_t rank = input.shape.size();
  const int64_t rows = input.shape[rank - 2], half = input.shape[rank - 1] / 2;
  if (failed(call.requireWhole(0, rank - 1)) || failed(call.requireShape(input.shape)))
    return failure();
  if (cosine.shape != Shape{rows, half} || sine.shape != cosine.shape)
    return call.fail("cosine and sine must have local shape [" + Twine(rows) + ", " + Twine(half) + "]");
  const RowView view(input.shape, rank - 1);
  for (int64_t row = 0; row < view.rows; ++row)
    for (int64_t i = 0; i < half; ++i) {
      const int64_t first = row * view.width + i, second = first + half, angle = row % rows * half + i;
      const double x1 = input.floats[first], x2 = input.floats[second];
      call.result().floats[first] = x1 * cosine.floats[angle] - x2 * sine.floats[angle];
      call.result().floats[second] = x2 * cosine.floats[angle] + x1 * sine.floats[angle];
    }
  return success();
}

void ds::addAttentionOps(SemanticsTable &table) {
  table.add<AttentionGradOp>(attentionGrad);
  table.add<AttentionOp>(attention);
  table.add<RotaryEmbeddingOp>(rotaryEmbedding);
}
