// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/IndexNotation.h"

#include "llvm/ADT/StringExtras.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir;
using namespace ds;

namespace {
/// The attention of one rank: its local extents and its probabilities.
class LocalAttention {
public:
  LocalAttention(LocalCall &call, double scale, bool isCausal, int biasOperand)
      : LocalAttention(call.operand(0), call.operand(1), call.operand(2),
                       biasOperand < 0 ? nullptr : &call.operand(biasOperand), scale, isCausal) {
    rowPositions = call.operandPlacements[0]->positions(call.rank, 2);
    shift = call.operandPlacements[1]->shape()[2] - call.operandPlacements[0]->shape()[2];
  }

  /// Of an attention that has all positions.
  LocalAttention(const DenseTensor &query, const DenseTensor &key, const DenseTensor &value, const DenseTensor *bias,
                 double scale, bool isCausal)
      : query(query), key(key), value(value), bias(bias), scale(scale), isCausal(isCausal),
        rowPositions(query.shape[2]), shift(key.shape[2] - query.shape[2]) {
    std::iota(rowPositions.begin(), rowPositions.end(), 0);
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

  /// What a row of scores is reduced to: the greatest, and the sum of the exponentials of what they differ from it.
  struct RowStatistics {
    double max, sum;
  };

  /// The probabilities of query row (b, h, s) over all positions.
  RowStatistics findProbabilities(int64_t b, int64_t h, int64_t s, std::vector<double> &result) const {
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
    return {largest, sum};
  }

  /// Adds the result of query row (b, h, s) to `out`; returns what findProbabilities does.
  RowStatistics addResultOfRow(int64_t b, int64_t h, int64_t s, double *out) const {
    std::vector<double> probabilities;
    const RowStatistics statistics = findProbabilities(b, h, s, probabilities);
    for (int64_t t = 0; t < columns; ++t) {
      const double *v = value.floats.data() + keyRow(b, h, t) * valueWidth;
      for (int64_t i = 0; i < valueWidth; ++i)
        out[i] += probabilities[t] * v[i];
    }
    return statistics;
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
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t s = 0; s < a.rows; ++s)
        a.addResultOfRow(b, h, s, call.result().floats.data() + a.queryRow(b, h, s) * a.valueWidth);
  return success();
}

/// The gradients of query, key and value.
using AttentionGradients = std::array<DenseTensor *, 3>;

/// Adds what query row (b, h, s) gives to the gradients.
static void addGradientsOfRow(const LocalAttention &a, const DenseTensor &gradient, const AttentionGradients &sums,
                              int64_t b, int64_t h, int64_t s) {
  std::vector<double> probabilities, gradients(a.columns, 0.0);
  a.findProbabilities(b, h, s, probabilities);
  const double *incoming = gradient.floats.data() + a.queryRow(b, h, s) * a.valueWidth;
  double mean = 0;
  for (int64_t t = 0; t < a.columns; ++t) {
    const int64_t row = a.keyRow(b, h, t) * a.valueWidth;
    for (int64_t i = 0; i < a.valueWidth; ++i) {
      gradients[t] += incoming[i] * a.value.floats[row + i];
      sums[2]->floats[row + i] += probabilities[t] * incoming[i];
    }
    mean += probabilities[t] * gradients[t];
  }
  const int64_t queryRow = a.queryRow(b, h, s) * a.width;
  for (int64_t t = 0; t < a.columns; ++t) {
    const double score = a.scale * probabilities[t] * (gradients[t] - mean);
    const int64_t row = a.keyRow(b, h, t) * a.width;
    for (int64_t i = 0; i < a.width; ++i) {
      sums[0]->floats[queryRow + i] += score * a.key.floats[row + i];
      sums[1]->floats[row + i] += score * a.query.floats[queryRow + i];
    }
  }
}

static void addGradients(const LocalAttention &a, const DenseTensor &gradient, const AttentionGradients &sums) {
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t s = 0; s < a.rows; ++s)
        addGradientsOfRow(a, gradient, sums, b, h, s);
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
  addGradients(a, call.operand(3), {&call.result(0), &call.result(1), &call.result(2)});
  return success();
}

//===----------------------------------------------------------------------===//
// Fused attention: the same on views of the tensors
//===----------------------------------------------------------------------===//

namespace {
/// A tensor by its letters, seen as [b, heads, positions, width].
class IndexedView {
public:
  IndexedView(StringRef letters, const Shape &shape) : letters(letters) {
    int64_t stride = 1;
    for (size_t dim = letters.size(); dim-- > 0; stride *= shape[dim]) {
      if (llvm::isDigit(letters[dim]))
        base += (letters[dim] - '0') * stride;
      else
        dims[letters[dim]] = {shape[dim], stride};
    }
  }

  int64_t size(char letter) const { return dims.count(letter) ? dims.at(letter).first : 1; }
  /// "b", "kg", "s" and "d", for instance: the letters of four dims.
  using Order = std::array<StringRef, 4>;

  Shape shape(const Order &order) const {
    Shape result;
    for (StringRef group : order) {
      result.push_back(1);
      for (char letter : group)
        result.back() *= size(letter);
    }
    return result;
  }

  /// For each element of the view, row-major, its place in the tensor.
  std::vector<int64_t> places(const Order &order) const {
    std::vector<int64_t> result = {base};
    for (StringRef group : order)
      for (char letter : group) {
        std::vector<int64_t> next;
        for (int64_t place : result)
          for (int64_t i = 0; i < size(letter); ++i)
            next.push_back(place + (dims.count(letter) ? i * dims.at(letter).second : 0));
        result = std::move(next);
      }
    return result;
  }

  DenseTensor read(const DenseTensor &tensor, const Order &order) const {
    DenseTensor result = DenseTensor::zeros(shape(order), true);
    for (auto [element, place] : llvm::zip_equal(result.floats, places(order)))
      element = tensor.floats[place];
    return result;
  }

  void write(DenseTensor &tensor, const DenseTensor &view, const Order &order) const {
    for (auto [element, place] : llvm::zip_equal(view.floats, places(order)))
      tensor.floats[place] = element;
  }

private:
  StringRef letters;
  int64_t base = 0;
  std::map<char, std::pair<int64_t, int64_t>> dims; ///< size and stride
};
} // namespace

static const IndexedView::Order kQueryOrder = {"b", "kg", "s", "d"}, kKeyOrder = {"b", "k", "t", "d"},
                                kValueOrder = {"b", "k", "t", "e"}, kResultOrder = {"b", "kg", "s", "e"},
                                kRowOrder = {"b", "kg", "s", ""}, kBiasOrder = {"b", "kg", "", "t"};

static DenseTensor readOperand(LocalCall &call, unsigned number, const IndexedView::Order &order) {
  const DenseTensor &operand = call.operand(number);
  return IndexedView(notationOf(call.op).operands[number], operand.shape).read(operand, order);
}

namespace {
/// Query, key, value and bias of a fused attention or its gradient, and the attention of them. A bias comes last.
struct ViewedOperands {
  template <typename OpT>
  ViewedOperands(LocalCall &call, OpT op)
      : query(readOperand(call, 0, kQueryOrder)), key(readOperand(call, 1, kKeyOrder)),
        value(readOperand(call, 2, kValueOrder)),
        bias(op.getBias() ? readOperand(call, op->getNumOperands() - 1, kBiasOrder) : DenseTensor()),
        attention(query, key, value, op.getBias() ? &bias : nullptr, op.getScale().convertToDouble(), op.getCausal()) {}

  const DenseTensor query, key, value, bias;
  const LocalAttention attention;
};
} // namespace

static LogicalResult fusedAttention(LocalCall &call) {
  auto op = cast<FusedAttentionOp>(call.op);
  const IndexNotation notation = notationOf(op);
  const ViewedOperands operands(call, op);
  const LocalAttention &a = operands.attention;
  DenseTensor result = DenseTensor::zeros({a.batches, a.heads, a.rows, a.valueWidth}, true);
  DenseTensor max = DenseTensor::zeros({a.batches, a.heads, a.rows, 1}, true), sum = max;
  for (int64_t b = 0; b < a.batches; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t s = 0; s < a.rows; ++s) {
        const int64_t row = a.queryRow(b, h, s);
        const auto statistics = a.addResultOfRow(b, h, s, result.floats.data() + row * a.valueWidth);
        max.floats[row] = statistics.max;
        sum.floats[row] = statistics.sum;
      }
  IndexedView(notation.results[0], call.result(0).shape).write(call.result(0), result, kResultOrder);
  IndexedView(notation.results[1], call.result(1).shape).write(call.result(1), max, kRowOrder);
  IndexedView(notation.results[2], call.result(2).shape).write(call.result(2), sum, kRowOrder);
  return success();
}

/// Ignores the result and the rows' statistics, which are a faster way to the same numbers.
static LogicalResult fusedAttentionGrad(LocalCall &call) {
  auto op = cast<FusedAttentionGradOp>(call.op);
  const IndexNotation notation = notationOf(op);
  const ViewedOperands operands(call, op);
  const DenseTensor gradient = readOperand(call, 6, kResultOrder);
  DenseTensor ofQuery = DenseTensor::zeros(operands.query.shape, true),
              ofKey = DenseTensor::zeros(operands.key.shape, true),
              ofValue = DenseTensor::zeros(operands.value.shape, true);
  addGradients(operands.attention, gradient, {&ofQuery, &ofKey, &ofValue});
  const IndexedView::Order orders[] = {kQueryOrder, kKeyOrder, kValueOrder};
  const DenseTensor *const gradients[] = {&ofQuery, &ofKey, &ofValue};
  for (auto [number, tensor] : llvm::enumerate(gradients)) {
    DenseTensor &target = call.result(std::min<size_t>(number, call.results.size() - 1));
    IndexedView(notation.results[number], target.shape).write(target, *tensor, orders[number]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rotary embeddings
//===----------------------------------------------------------------------===//

/// The row of a tensor of `dims`, which are some of those of `shape`, for row `row` of a tensor of `shape`.
static int64_t rowOfDims(int64_t row, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t result = 0, stride = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    if (llvm::is_contained(dims, dim)) {
      result += row % shape[dim] * stride;
      stride *= shape[dim];
    }
    row /= shape[dim];
  }
  return result;
}

static LogicalResult rotaryEmbedding(LocalCall &call) {
  const DenseTensor &input = call.operand(0), &cosine = call.operand(1), &sine = call.operand(2);
  auto op = cast<RotaryEmbeddingOp>(call.op);
  const SmallVector<int64_t> dims = op.getTableDims();
  const size_t last = input.shape.size() - 1;
  const int64_t half = input.shape[last] / 2, columns = op.hasWholeTables() ? 2 * half : half;
  if (failed(call.requireWhole(0, last)) || failed(call.requireShape(input.shape)))
    return failure();
  Shape expected;
  for (int64_t dim : dims)
    expected.push_back(input.shape[dim]);
  expected.push_back(columns);
  if (cosine.shape != expected || sine.shape != expected)
    return call.fail("cosine and sine must have the local sizes of the input's dims that they share");
  const RowView view(input.shape, last);
  for (int64_t row = 0; row < view.rows; ++row) {
    const int64_t angles = rowOfDims(row, ArrayRef(input.shape).take_front(last), dims) * columns;
    for (int64_t i = 0; i < half; ++i) {
      const int64_t first = row * view.width + i, second = first + half;
      const int64_t angle1 = angles + i, angle2 = angle1 + columns - half;
      const double x1 = input.floats[first], x2 = input.floats[second];
      call.result().floats[first] = x1 * cosine.floats[angle1] - x2 * sine.floats[angle1];
      call.result().floats[second] = x2 * cosine.floats[angle2] + x1 * sine.floats[angle2];
    }
  }
  return success();
}

void ds::addAttentionOps(SemanticsTable &table) {
  table.add<AttentionGradOp>(attentionGrad);
  table.add<AttentionOp>(attention);
  table.add<FusedAttentionGradOp>(fusedAttentionGrad);
  table.add<FusedAttentionOp>(fusedAttention);
  table.add<RotaryEmbeddingOp>(rotaryEmbedding);
}
