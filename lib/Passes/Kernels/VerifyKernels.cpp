// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelClusters.h"

#include "ds/Analysis/KernelGraph.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// Ops that stand for a formula, which no instruction of the plan computes.
static bool isComposite(Operation *op) {
  return isa<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp, GeluOp, SigmoidOp, SiluOp, SoftplusOp, AttentionOp,
             AttentionGradOp, CrossEntropyOp, CrossEntropyGradOp, AdamUpdateOp, SgdUpdateOp>(op);
}

static LogicalResult verifyOutsideOfKernels(Operation *op) {
  if (isComposite(op))
    return op->emitOpError("must be decomposed");
  const bool isTensor = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (isTensor && !isa<arith::ConstantOp>(op) && (isFusibleOp(op) || isFreeOp(op)))
    return op->emitOpError("must be inside a ds.kernel");
  return success();
}

namespace {

struct VerifyKernels : ds::impl::VerifyKernelsPassBase<VerifyKernels> {
  using VerifyKernelsPassBase::VerifyKernelsPassBase;

  void runOnOperation() override {
    WalkResult walked = getOperation().walk<WalkOrder::PreOrder>([](Operation *op) -> WalkResult {
      auto kernel = dyn_cast<KernelOp>(op);
      if (!kernel)
        return verifyOutsideOfKernels(op);
      return failed(buildKernelGraph(kernel)) ? WalkResult::interrupt() : WalkResult::skip();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
