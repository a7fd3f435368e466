// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ProgramForm.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYPROGRAMPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

static bool isLegal(Operation *op) {
  if (isa<ModuleOp, func::FuncOp, func::ReturnOp, scf::ForOp, scf::YieldOp, MeshOp, VariableOp, ReadOp, AssignOp,
          ConstrainOp>(op))
    return true;
  return isa<LayoutRuleOpInterface>(op);
}

namespace {

struct VerifyProgram : ds::impl::VerifyProgramPassBase<VerifyProgram> {
  using VerifyProgramPassBase::VerifyProgramPassBase;

  void runOnOperation() override {
    WalkResult walked = getOperation().walk([](Operation *op) {
      if (isLegal(op))
        return WalkResult::advance();
      return WalkResult(op->emitOpError("is not legal at the end of the program stage"));
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(verifyVariables(function)) || failed(verifyNames(function)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
