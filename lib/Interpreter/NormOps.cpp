// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ds;

/// softmax, or its logarithm, along one dim.
static LogicalResult softmaxAlong(LocalCall &call, int64_t dim, bool isLog) {
  const DenseTensor &input = call.operand(0);
  if (failed(call.requireWhole(0, dim)) || failed(call.requireShape(input.shape)))
    return failure();
  const DimView view(input.shape, dim);
  for (int64_t before = 0; before < view.outer; ++before)
    for (int64_t after = 0; after < view.inner; ++after) {
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = 0; i < view.size; ++i)
        largest = foldFloats(ReduceKind::Max, largest, input.floats[view.index(before, i, after)]);
      for (int64_t i = 0; i < view.size; ++i)
        sum += std::exp(input.floats[view.index(before, i, after)] - largest);
      for (int64_t i = 0; i < view.size; ++i) {
        const int64_t index = view.index(before, i, after);
        const double shifted = input.floats[index] - largest;
        call.result().floats[index] = isLog ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
  return success();
}

static LogicalResult softmax(LocalCall &call) { return softmaxAlong(call, cast<SoftmaxOp>(call.op).getDim(), false); }
static LogicalResult logSoftmax(LocalCall &call) {
  return softmaxAlong(call, cast<LogSoftmaxOp>(call.op).getDim(), true);
}

/// Checks that the rows of operand 0, as wide as operand 1, are whole; gives them.
static FailureOr<RowView> rowsOf(LocalCall &call) {
  const Shape &input = call.operand(0).shape, &scale = call.operand(1).shape;
  const size_t first = input.size() - scale.size();
  for (size_t dim = first; dim < input.size(); ++dim)
    if (failed(call.requireWhole(0, dim)))
      return failure();
  const RowView rows(input, first);
  for (size_t number = 1; number < call.operands.size(); ++number)
    if (call.operand(number).size() != rows.width)
      return call.fail("operand " + Twine(number) + " must have the " + Twine(rows.width) + " elements of a row");
  if (failed(call.requireShape(input)))
    return failure();
  return rows;
}

static LogicalResult layerNorm(LocalCall &call) {
  FailureOr<RowView> view = rowsOf(call);
  if (failed(view))
    return failure();
  const double epsilon = cast<LayerNormOp>(call.op).getEpsilon().convertToDouble();
  const std::vector<double> &scale = call.operand(1).floats;
  for (int64_t row = 0; row < view->rows; ++row) {
    const double *in = call.operand(0).floats.data() + row * view->width;
    double *out = call.result().floats.data() + row * view->width;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < view->width; ++i)
      mean += in[i];
    mean /= static_cast<double>(view->width);
    for (int64_t i = 0; i < view->width; ++i)
      variance += (in[i] - mean) * (in[i] - mean);
    variance /= static_cast<double>(view->width);
    for (int64_t i = 0; i < view->width; ++i) {
      out[i] = (in[i] - mean) / std::sqrt(variance + epsilon) * scale[i];
      if (call.operands.size() > 2)
        out[i] += call.operand(2).floats[i];
    }
  }
  return success();
}

static LogicalResult rmsNorm(LocalCall &call) {
  FailureOr<RowView> view = rowsOf(call);
  if (failed(view))
    return failure();
  const double epsilon = cast<RmsNormOp>(call.op).getEpsilon().convertToDouble();
  for (int64_t row = 0; row < view->rows; ++row) {
    const double *in = call.operand(0).floats.data() + row * view->width;
    double *out = call.result().floats.data() + row * view->width;
    double square = 0;
    for (int64_t i = 0; i < view->width; ++i)
      square += in[i] * in[i];
    square /= static_cast<double>(view->width);
    for (int64_t i = 0; i < view->width; ++i)
      out[i] = in[i] / std::sqrt(square + epsilon) * call.operand(1).floats[i];
  }
  return success();
}

void ds::addNormOps(SemanticsTable &table) {
  table.add<LayerNormOp>(layerNorm);
  table.add<LogSoftmaxOp>(logSoftmax);
  table.add<RmsNormOp>(rmsNorm);
  table.add<SoftmaxOp>(softmax);
}
