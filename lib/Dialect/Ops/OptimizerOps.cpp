// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Updates of parameters.

#include "OpChecks.h"

using namespace mlir;
using namespace ds;

/// Checks that the first `tensors` operands and all results have one shape, and the others none.
static LogicalResult verifyUpdate(Operation *op, unsigned tensors) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    ArrayRef<int64_t> expected = number < tensors ? shape : ArrayRef<int64_t>();
    if (failed(verifyShape(op, (Twine("operand ") + Twine(number)).str(),
                           cast<RankedTensorType>(operand.getType()).getShape(), expected)))
      return failure();
  }
  for (Type type : op->getResultTypes())
    if (failed(verifyShape(op, "result", cast<RankedTensorType>(type).getShape(), shape)))
      return failure();
  return success();
}

LogicalResult AdamUpdateOp::verify() { return verifyUpdate(*this, 4); }

LogicalResult SgdUpdateOp::verify() { return verifyUpdate(*this, 3); }

LayoutRule AdamUpdateOp::getLayoutRule() { return elementwiseRule(*this); }

LayoutRule SgdUpdateOp::getLayoutRule() { return elementwiseRule(*this); }
