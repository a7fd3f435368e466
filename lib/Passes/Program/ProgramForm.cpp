// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ProgramForm.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace ds;

/// Checks one read or assign: its place, and that its variable was not `seen` before.
template <typename OpT> static LogicalResult verifyAccess(OpT op, llvm::SmallPtrSetImpl<Attribute> &seen) {
  if (!isa<func::FuncOp>(op->getParentOp()))
    return op.emitOpError("must stand at the top level of a function");
  if (!seen.insert(op.getVariableAttr()).second)
    return op.emitOpError("must be the only one of @") << op.getVariable() << " in its function";
  return success();
}

LogicalResult ds::verifyVariables(func::FuncOp function) {
  llvm::SmallPtrSet<Attribute, 32> read, assigned;
  Operation *other = nullptr; // the first op that is neither read nor constant
  WalkResult walked = function.walk([&](Operation *op) {
    if (auto readOp = dyn_cast<ReadOp>(op)) {
      if (other)
        return WalkResult(readOp.emitOpError("must come before all other ops of the step"));
      return WalkResult(verifyAccess(readOp, read));
    }
    if (auto assign = dyn_cast<AssignOp>(op)) {
      if (!isa_and_nonnull<AssignOp, func::ReturnOp>(op->getNextNode()))
        return WalkResult(assign.emitOpError("must come after all other ops of the step"));
      return WalkResult(verifyAccess(assign, assigned));
    }
    if (!other && !matchPattern(op, m_Constant()) && op != function)
      other = op;
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ds::verifyNames(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttr(i, kNameAttr))
      return function.emitOpError("argument ") << i << " must have a " << kNameAttr;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!function.getResultAttr(i, kNameAttr) && !function.getResultAttr(i, kGradientAttr))
      return function.emitOpError("result ") << i << " must have a " << kNameAttr << " or a " << kGradientAttr;
  return success();
}
