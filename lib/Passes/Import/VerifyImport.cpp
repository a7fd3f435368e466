// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "../Program/ProgramForm.h"

#include "ds/Passes/Passes.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYIMPORTPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

static bool isLegal(Operation *op) {
  return isa<ModuleOp, func::FuncOp, func::ReturnOp, VariableOp, ReadOp, AssignOp, LayoutRuleOpInterface>(op);
}

static LogicalResult verifyOp(Operation *op) {
  if (!isLegal(op))
    return op->emitOpError("is not legal at the end of the import stage");
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
      return op->emitOpError("must have no layout yet, got ") << type;
  return success();
}

/// One function, @forward, of a single block.
static LogicalResult verifyFunctions(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  if (functions.empty())
    return module.emitOpError("must have a function @forward");
  for (func::FuncOp function : functions) {
    if (function.getSymName() != "forward")
      return function.emitOpError("must be called @forward, as the one function of an imported model");
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("must be a single block");
    if (failed(verifyVariables(function)) || failed(verifyNames(function)))
      return failure();
  }
  return success();
}

namespace {

struct VerifyImport : ds::impl::VerifyImportPassBase<VerifyImport> {
  using VerifyImportPassBase::VerifyImportPassBase;

  void runOnOperation() override {
    WalkResult walked =
        getOperation().walk<WalkOrder::PreOrder>([](Operation *op) { return WalkResult(verifyOp(op)); });
    if (walked.wasInterrupted() || failed(verifyFunctions(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
