// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Losses.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

LogicalResult CrossEntropyOp::verify() {
  ArrayRef<int64_t> logits = getLogits().getType().getShape();
  if (logits.empty())
    return emitOpError("logits must have a dim of classes");
  if (failed(verifyShape(*this, "labels", getLabels().getType().getShape(), logits.drop_back())))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), logits.drop_back());
}

LogicalResult CrossEntropyGradOp::verify() {
  ArrayRef<int64_t> logits = getLogits().getType().getShape();
  if (logits.empty())
    return emitOpError("logits must have a dim of classes");
  if (failed(verifyShape(*this, "labels", getLabels().getType().getShape(), logits.drop_back())) ||
      failed(verifyShape(*this, "gradient", getGradient().getType().getShape(), logits.drop_back())))
    return failure();
  return verifyShape(*this, "result", getType().getShape(), logits);
}

LayoutRule CrossEntropyOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices logits = rule.addDims(shapeOfTensor(getLogits()));
  rule.indices[logits.back()[0]].kind = IndexKind::Whole;
  ValueIndices rows(llvm::drop_end(logits));
  rule.operands = {logits, rows};
  rule.results = {rows};
  return rule;
}

LayoutRule CrossEntropyGradOp::getLayoutRule() {
  LayoutRule rule;
  ValueIndices logits = rule.addDims(shapeOfTensor(getLogits()));
  rule.indices[logits.back()[0]].kind = IndexKind::Whole;
  ValueIndices rows(llvm::drop_end(logits));
  rule.operands = {logits, rows, rows};
  rule.results = {logits};
  return rule;
}
