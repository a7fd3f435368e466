// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

using namespace mlir;
using namespace ds;

static void fillNeutral(DenseTensor &tensor, ReduceKind kind, unsigned width) {
  const NeutralElement neutral = neutralElement(kind, width);
  std::fill(tensor.floats.begin(), tensor.floats.end(), neutral.asFloat);
  std::fill(tensor.ints.begin(), tensor.ints.end(), neutral.asInt);
}

static void foldInto(DenseTensor &result, int64_t index, const DenseTensor &input, int64_t inputIndex, ReduceKind kind,
                     unsigned width) {
  if (result.isFloat)
    result.floats[index] = foldFloats(kind, result.floats[index], input.floats[inputIndex]);
  else
    result.ints[index] = wrapInteger(foldInts(kind, result.ints[index], input.ints[inputIndex]), width);
}

/// Folds in the row-major order of the input.
static LogicalResult reduce(LocalCall &call) {
  auto op = cast<ReduceOp>(call.op);
  const ReduceKind kind = static_cast<ReduceKind>(op.getKind());
  const unsigned width = call.resultWidth();
  const DenseTensor &input = call.operand(0);
  DenseTensor &result = call.result();
  fillNeutral(result, kind, width);
  const bool isFlat = !call.operandPlacements[0]->layout().flat.empty();
  if (isFlat && !result.shape.empty())
    return call.fail("a flat input must be reduced over all its dims");
  Shape strides(input.shape.size(), 0), kept;
  int64_t stride = 1;
  for (size_t dim = input.shape.size(); !isFlat && dim-- > 0;) {
    if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      continue;
    strides[dim] = stride;
    stride *= input.shape[dim];
    kept.insert(kept.begin(), input.shape[dim]);
  }
  if (failed(call.requireShape(kept)))
    return failure();
  Shape coordinates(input.shape.size(), 0);
  int64_t target = 0;
  for (int64_t index = 0, size = input.size(); index < size; ++index) {
    foldInto(result, target, input, index, kind, width);
    for (size_t dim = input.shape.size(); dim-- > 0;) {
      target += strides[dim];
      if (++coordinates[dim] < input.shape[dim])
        break;
      target -= strides[dim] * input.shape[dim];
      coordinates[dim] = 0;
    }
  }
  return success();
}

void ds::addReduceOps(SemanticsTable &table) { table.add<ReduceOp>(reduce, OnFlat::Allowed); }
