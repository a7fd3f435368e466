// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ds;

/// The rows of logits; checks that they are whole and that there is one label per row, in range or `ignored`.
static FailureOr<RowView> checkedRows(LocalCall &call, int64_t ignored) {
  const DenseTensor &logits = call.operand(0), &labels = call.operand(1);
  const int64_t classDim = logits.shape.size() - 1;
  if (failed(call.requireWhole(0, classDim)))
    return failure();
  const RowView rows(logits.shape, classDim);
  if (labels.size() != rows.rows)
    return call.fail("must have one label per row, got " + Twine(labels.size()) + " for " + Twine(rows.rows));
  for (int64_t label : labels.ints)
    if (label != ignored && (label < 0 || label >= rows.width))
      return call.fail("label must be in [0, " + Twine(rows.width) + ") or " + Twine(ignored) + ", got " +
                       Twine(label));
  return rows;
}

/// log(sum of exp(row)).
static double logSumExp(const double *row, int64_t width) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < width; ++i)
    largest = foldFloats(ReduceKind::Max, largest, row[i]);
  for (int64_t i = 0; i < width; ++i)
    sum += std::exp(row[i] - largest);
  return largest + std::log(sum);
}

static LogicalResult crossEntropy(LocalCall &call) {
  const int64_t ignored = static_cast<int64_t>(cast<CrossEntropyOp>(call.op).getIgnoreIndex());
  FailureOr<RowView> rows = checkedRows(call, ignored);
  if (failed(rows) || failed(call.requireShape(call.operand(1).shape)))
    return failure();
  for (int64_t row = 0; row < rows->rows; ++row) {
    const int64_t label = call.operand(1).ints[row];
    const double *logits = call.operand(0).floats.data() + row * rows->width;
    call.result().floats[row] = label == ignored ? 0 : logSumExp(logits, rows->width) - logits[label];
  }
  return success();
}

static LogicalResult crossEntropyGrad(LocalCall &call) {
  const int64_t ignored = static_cast<int64_t>(cast<CrossEntropyGradOp>(call.op).getIgnoreIndex());
  FailureOr<RowView> rows = checkedRows(call, ignored);
  if (failed(rows) || failed(call.requireShape(call.operand(0).shape)))
    return failure();
  if (call.operand(2).size() != rows->rows)
    return call.fail("must have one gradient per row");
  for (int64_t row = 0; row < rows->rows; ++row) {
    const int64_t label = call.operand(1).ints[row];
    if (label == ignored)
      continue;
    const double *logits = call.operand(0).floats.data() + row * rows->width;
    double *out = call.result().floats.data() + row * rows->width;
    const double normalizer = logSumExp(logits, rows->width), gradient = call.operand(2).floats[row];
    for (int64_t i = 0; i < rows->width; ++i)
      out[i] = (std::exp(logits[i] - normalizer) - (i == label)) * gradient;
  }
  return success();
}

void ds::addLossOps(SemanticsTable &table) {
  table.add<CrossEntropyGradOp>(crossEntropyGrad);
  table.add<CrossEntropyOp>(crossEntropy);
}
