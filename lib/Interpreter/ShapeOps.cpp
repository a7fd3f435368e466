// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Constants, and the ops that repeat, permute or renumber whole tensors.

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ds;

static LogicalResult constant(LocalCall &call) {
  TypedAttr attr = cast<arith::ConstantOp>(call.op).getValue();
  auto splat = dyn_cast<SplatElementsAttr>(attr);
  if (splat)
    attr = splat.getSplatValue<TypedAttr>();
  FailureOr<DenseTensor> elements = denseTensorOf(attr);
  if (failed(elements))
    return call.fail("must have elements that can be read");
  const std::vector<int64_t> &indices = call.resultPlacements[0]->indices(call.rank);
  for (size_t i = 0; i < indices.size(); ++i)
    copyElement(call.result(), i, *elements, splat ? 0 : indices[i]);
  return success();
}

static LogicalResult broadcast(LocalCall &call) {
  auto op = cast<BroadcastOp>(call.op);
  const DenseTensor &input = call.operand(0);
  DenseTensor &result = call.result();
  if (call.operandPlacements[0]->shape().empty()) {
    for (int64_t index = 0; index < result.size(); ++index)
      copyElement(result, index, input, 0);
    return success();
  }
  if (!call.resultPlacements[0]->layout().flat.empty() || !call.operandPlacements[0]->layout().flat.empty())
    return call.fail("a tensor that is broadcast must not be flat, nor the result unless a scalar fills it");
  if (!input.shape.empty() && !call.resultPlacements[0]->layout().flat.empty())
    return call.fail("only a scalar may be repeated to a flat result");
  Shape strides(result.shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = input.shape.size(); i-- > 0;) {
    const int64_t dim = op.getDims()[i];
    if (result.shape[dim] != input.shape[i])
      return call.fail("local dim " + Twine(i) + " of the input must have " + Twine(result.shape[dim]) +
                       " elements, got " + Twine(input.shape[i]));
    strides[dim] = stride;
    stride *= input.shape[i];
  }
  Shape coordinates(result.shape.size(), 0);
  int64_t source = 0;
  for (int64_t index = 0, size = result.size(); index < size; ++index) {
    copyElement(result, index, input, source);
    for (size_t dim = result.shape.size(); dim-- > 0;) {
      source += strides[dim];
      if (++coordinates[dim] < result.shape[dim])
        break;
      source -= strides[dim] * result.shape[dim];
      coordinates[dim] = 0;
    }
  }
  return success();
}

static LogicalResult transpose(LocalCall &call) {
  SmallVector<unsigned> permutation;
  for (int64_t dim : cast<TransposeOp>(call.op).getPermutation())
    permutation.push_back(dim);
  DenseTensor moved = permuted(call.operand(0), permutation);
  if (failed(call.requireShape(moved.shape)))
    return failure();
  call.result() = std::move(moved);
  return success();
}

/// The factor lists of both sides are equal, so the local elements keep their order.
static LogicalResult reshape(LocalCall &call) {
  DenseTensor &result = call.result();
  if (call.operand(0).size() != result.size())
    return call.fail("input must have the " + Twine(result.size()) + " local elements of the result, got " +
                     Twine(call.operand(0).size()));
  result.floats = call.operand(0).floats;
  result.ints = call.operand(0).ints;
  return success();
}

static LogicalResult iota(LocalCall &call) {
  const int64_t dim = cast<IotaOp>(call.op).getDim();
  const std::vector<int64_t> positions = call.resultPlacements[0]->positions(call.rank, dim);
  DenseTensor &result = call.result();
  const DimView view(result.shape, dim);
  for (int64_t before = 0; before < view.outer; ++before)
    for (int64_t i = 0; i < view.size; ++i)
      for (int64_t after = 0; after < view.inner; ++after) {
        if (result.isFloat)
          result.floats[view.index(before, i, after)] = static_cast<double>(positions[i]);
        else
          result.ints[view.index(before, i, after)] = wrapInteger(positions[i], call.resultWidth());
      }
  return success();
}

void ds::addShapeOps(SemanticsTable &table) {
  table.add<arith::ConstantOp>(constant, OnFlat::Allowed);
  table.add<BroadcastOp>(broadcast, OnFlat::Allowed);
  table.add<IotaOp>(iota);
  table.add<ReshapeOp>(reshape, OnFlat::Allowed);
  table.add<TransposeOp>(transpose);
}
