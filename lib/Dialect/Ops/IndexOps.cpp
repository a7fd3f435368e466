// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Ops that index with integers.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult GatherRowsOp::verify() {
  ArrayRef<int64_t> table = getTable().getType().getShape();
  if (table.empty())
    return emitOpError("table must have rows");
  SmallVector<int64_t> expected(getIds().getType().getShape());
  llvm::append_range(expected, table.drop_front());
  return verifyShape(*this, "result", getType().getShape(), expected);
}

LogicalResult ScatterAddRowsOp::verify() {
  if (getType().getRank() < 1)
    return emitOpError("result must have rows");
  SmallVector<int64_t> expected(getIds().getType().getShape());
  llvm::append_range(expected, getType().getShape().drop_front());
  return verifyShape(*this, "updates", getUpdates().getType().getShape(), expected);
}

/// Checks that `data` has the shape of `ids` but for `dim`.
static LogicalResult verifyElements(Operation *op, int64_t dim, RankedTensorType data, RankedTensorType ids) {
  if (data.getRank() != ids.getRank())
    return op->emitOpError("data and ids must have one rank, got ") << data.getRank() << " and " << ids.getRank();
  if (failed(verifyDim(op, dim, ids.getRank())))
    return failure();
  SmallVector<int64_t> expected(ids.getShape());
  expected[dim] = data.getDimSize(dim);
  return verifyShape(op, "data", data.getShape(), expected);
}

LogicalResult GatherElementsOp::verify() {
  if (failed(verifyElements(*this, getDim(), getInput().getType(), getIds().getType())))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), getIds().getType().getShape());
}

LogicalResult ScatterElementsOp::verify() {
  if (failed(verifyElements(*this, getDim(), getType(), getIds().getType())))
    return failure();
  return verifyShape(*this, "updates", getUpdates().getType().getShape(), getIds().getType().getShape());
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = getInput().getType(), values = getValues().getType();
  if (failed(verifyDim(*this, getDim(), input.getRank())))
    return failure();
  if (values.getRank() != input.getRank() || values.getDimSize(getDim()) > input.getDimSize(getDim()))
    return emitOpError("k must be at most ") << input.getDimSize(getDim());
  SmallVector<int64_t> expected(input.getShape());
  expected[getDim()] = values.getDimSize(getDim());
  if (failed(verifyShape(*this, "values", values.getShape(), expected)))
    return failure();
  return verifyShape(*this, "ids", getIds().getType().getShape(), expected);
}

//===----------------------------------------------------------------------===//
// Layout rules
//===----------------------------------------------------------------------===//

LayoutRule GatherRowsOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices table = rule.addDims(shapeOfTensor(getTable())), ids = rule.addDims(shapeOfTensor(getIds()));
  rule.indices[table[0][0]].kind = IndexKind::Sum;
  rule.indices[table[0][0]].needsInterval = true;
  ValueIndices result = ids;
  llvm::append_range(result, ArrayRef(table).drop_front());
  rule.operands = {table, ids};
  rule.results = {result};
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule ScatterAddRowsOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices ids = rule.addDims(shapeOfTensor(getIds()), IndexKind::Sum),
               table = rule.addDims(shapeOfTensor(getResult()));
  rule.indices[table[0][0]].needsInterval = true;
  ValueIndices updates = ids;
  llvm::append_range(updates, ArrayRef(table).drop_front());
  rule.operands = {ids, updates};
  rule.results = {table};
  rule.setLinear(PartialRule::Multilinear, {1});
  return rule;
}

/// Two values alike but for `dim`, which is whole in both.
static std::pair<ValueIndices, ValueIndices> addAlongDim(LayoutRule &rule, ArrayRef<int64_t> first,
                                                         ArrayRef<int64_t> second, int64_t dim) {
  ValueIndices a = rule.addDims(first), b = a;
  rule.indices[a[dim][0]].kind = IndexKind::Whole;
  b[dim] = {rule.addIndex(second[dim], IndexKind::Whole)};
  return {a, b};
}

LayoutRule GatherElementsOp::getLayoutRule() {
  LayoutRule rule;
  auto [data, ids] = addAlongDim(rule, shapeOfTensor(getInput()), shapeOfTensor(getIds()), getDim());
  rule.operands = {data, ids};
  rule.results = {ids};
  rule.setLinear(PartialRule::Multilinear, {0});
  return rule;
}

LayoutRule ScatterElementsOp::getLayoutRule() {
  LayoutRule rule;
  auto [data, ids] = addAlongDim(rule, shapeOfTensor(getResult()), shapeOfTensor(getIds()), getDim());
  rule.operands = {ids, ids};
  rule.results = {data};
  rule.setLinear(PartialRule::Multilinear, {1});
  return rule;
}

LayoutRule TopKOp::getLayoutRule() {
  LayoutRule rule;
  auto [data, picked] = addAlongDim(rule, shapeOfTensor(getInput()), shapeOfTensor(getValues()), getDim());
  rule.operands = {data};
  rule.results = {picked, picked};
  return rule;
}
