// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Semantics.h"

#include "ds/Interpreter/Interpreter.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace ds;

static unsigned widthOf(Type type) {
  Type element = elementTypeOf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

unsigned LocalCall::operandWidth(unsigned number) const { return widthOf(op->getOperand(number).getType()); }
unsigned LocalCall::resultWidth(unsigned number) const { return widthOf(op->getResult(number).getType()); }

LogicalResult LocalCall::fail(const Twine &text) const {
  return op->emitOpError() << text << " (on rank " << rank << ")";
}

static std::string textOf(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

LogicalResult LocalCall::requireShape(const Shape &shape, unsigned result) const {
  if (results[result].shape == shape)
    return success();
  return fail("local shape of result " + Twine(result) + " must be " + textOf(shape) + ", got " +
              textOf(results[result].shape));
}

LogicalResult LocalCall::requireWhole(unsigned operand, int64_t dim) const {
  const int64_t size = operandPlacements[operand]->shape()[dim], local = operands[operand]->shape[dim];
  if (size == local)
    return success();
  return fail("dim " + Twine(dim) + " of operand " + Twine(operand) + " must be whole, got " + Twine(local) + " of " +
              Twine(size) + " elements");
}

const SemanticsTable::Entry *SemanticsTable::find(OperationName name) const {
  auto found = entries.find(name.getTypeID());
  return found == entries.end() ? nullptr : &found->second;
}

const SemanticsTable &SemanticsTable::get() {
  static const SemanticsTable table = [] {
    SemanticsTable all;
    for (auto add : {addActivationOps, addAttentionOps, addConvolutionOps, addFloatOps, addIndexOps, addIntegerOps,
                     addLossOps, addMatmulOps, addNormOps, addOptimizerOps, addPartOps, addReduceOps, addShapeOps})
      add(all);
    return all;
  }();
  return table;
}

bool ds::hasSemantics(OperationName name) { return SemanticsTable::get().find(name) != nullptr; }

//===----------------------------------------------------------------------===//
// Tools for semantics
//===----------------------------------------------------------------------===//

DimView::DimView(const Shape &shape, int64_t dim) : size(shape[dim]) {
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (i != dim)
      (i < dim ? outer : inner) *= shape[i];
}

RowView::RowView(const Shape &shape, int64_t dim) {
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    (i < dim ? rows : width) *= shape[i];
}

DenseTensor ds::permuted(const DenseTensor &tensor, ArrayRef<unsigned> permutation) {
  const size_t rank = permutation.size();
  Shape strides(rank, 1), shape(rank), resultStrides(rank);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * tensor.shape[i];
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = tensor.shape[permutation[i]];
    resultStrides[i] = strides[permutation[i]];
  }
  DenseTensor result = DenseTensor::zeros(shape, tensor.isFloat);
  Shape coordinates(rank, 0);
  int64_t source = 0;
  for (int64_t index = 0, size = result.size(); index < size; ++index) {
    copyElement(result, index, tensor, source);
    for (size_t dim = rank; dim-- > 0;) {
      source += resultStrides[dim];
      if (++coordinates[dim] < shape[dim])
        break;
      source -= resultStrides[dim] * shape[dim];
      coordinates[dim] = 0;
    }
  }
  return result;
}

std::vector<int64_t> ds::localPlaces(const Placement &placement, int64_t rank, size_t dim) {
  std::vector<int64_t> places(placement.shape()[dim], -1);
  const std::vector<int64_t> positions = placement.positions(rank, dim);
  for (size_t i = 0; i < positions.size(); ++i)
    places[positions[i]] = i;
  return places;
}
