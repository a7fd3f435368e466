// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYSCHEDULEPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct VerifySchedule : ds::impl::VerifySchedulePassBase<VerifySchedule> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<KernelOp>(op))
        return WalkResult::skip();
      if (failed(verifyOp(op)))
        signalPassFailure();
      return WalkResult::advance();
    });
  }

  static LogicalResult verifyOp(Operation *op) {
    if (isa<RelayoutOp, AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp>(op))
      return op->emitOpError("must be a ds.start and a ds.wait");
    bool isElementwise = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op);
    if (isElementwise && llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return op->emitOpError("must be inside a ds.kernel");
    auto start = dyn_cast<StartOp>(op);
    if (!start)
      return success();
    if (!start.getToken().hasOneUse())
      return start.emitOpError("must have exactly one wait");
    if ((*start.getToken().user_begin())->getBlock() != start->getBlock())
      return start.emitOpError("must have its wait in the same block");
    return success();
  }
};

} // namespace
