// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Softmax and normalizations: ops along dims that they need whole.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

LogicalResult SoftmaxOp::verify() { return verifyDim(*this, getDim(), getType().getRank()); }

LogicalResult LogSoftmaxOp::verify() { return verifyDim(*this, getDim(), getType().getRank()); }

template <typename OpT> static LogicalResult verifyNorm(OpT op) {
  RankedTensorType input = op.getInput().getType(), scale = op.getScale().getType();
  if (failed(verifyShape(op, "result", op.getType().getShape(), input.getShape())))
    return failure();
  if (scale.getRank() < 1 || scale.getRank() > input.getRank())
    return op.emitOpError("scale must have 1 to ") << input.getRank() << " dims, got " << scale.getRank();
  return verifyShape(op, "scale", scale.getShape(), input.getShape().take_back(scale.getRank()));
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyNorm(*this)))
    return failure();
  if (!getBias())
    return success();
  return verifyShape(*this, "bias", getBias().getType().getShape(), getScale().getType().getShape());
}

LogicalResult RmsNormOp::verify() { return verifyNorm(*this); }

/// All dims parallel but `dim`, which is whole; one operand and one result alike.
static LayoutRule alongDimRule(ArrayRef<int64_t> shape, int64_t dim) {
  LayoutRule rule;
  ValueIndices value = rule.addDims(shape);
  rule.indices[value[dim][0]].kind = IndexKind::Whole;
  rule.operands = {value};
  rule.results = {value};
  return rule;
}

LayoutRule SoftmaxOp::getLayoutRule() { return alongDimRule(shapeOfTensor(getInput()), getDim()); }

LayoutRule LogSoftmaxOp::getLayoutRule() { return alongDimRule(shapeOfTensor(getInput()), getDim()); }

/// The last rank(scale) dims are whole, and are those of scale and bias.
static LayoutRule normRule(Operation *op) {
  LayoutRule rule;
  ValueIndices value = rule.addDims(shapeOfTensor(op->getOperand(0)));
  const size_t rank = shapeOfTensor(op->getOperand(1)).size();
  ValueIndices row(llvm::drop_begin(value, value.size() - rank));
  for (ArrayRef<unsigned> dim : row)
    rule.indices[dim[0]].kind = IndexKind::Whole;
  rule.operands.assign(op->getNumOperands(), row);
  rule.operands[0] = value;
  rule.results = {value};
  return rule;
}

LayoutRule LayerNormOp::getLayoutRule() { return normRule(*this); }

LayoutRule RmsNormOp::getLayoutRule() { return normRule(*this); }
