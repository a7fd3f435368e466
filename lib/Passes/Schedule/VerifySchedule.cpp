// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/BufferUse.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Solvers/ArenaPacking.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYSCHEDULEPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

static LogicalResult verifyStart(StartOp start) {
  if (!start.getToken().hasOneUse())
    return start.emitOpError("must have exactly one wait");
  if ((*start.getToken().user_begin())->getBlock() != start->getBlock())
    return start.emitOpError("must have its wait in the same block");
  return success();
}

static LogicalResult verifyForm(Operation *op) {
  if (isa<RelayoutOp, AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp>(op))
    return op->emitOpError("must be a ds.start and a ds.wait");
  bool isElementwise = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op);
  if (isElementwise && llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return op->emitOpError("must be inside a ds.kernel");
  auto start = dyn_cast<StartOp>(op);
  return start ? verifyStart(start) : success();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// What several ranks do together.
static bool communicates(Operation *op) { return isa<StartOp, WaitOp, RemapOp, TransferOp>(op); }

/// That every rank comes by `op` equally often, and so in the order of the program.
static LogicalResult verifyIsReachedByAll(Operation *op) {
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return op->emitOpError("must not stand under a condition of one rank, got ") << parent->getName();
    if (!loop.getStaticTripCount())
      return loop.emitOpError("must have a constant number of iterations, as it holds ") << op->getName();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyMemory(func::FuncOp function) {
  FailureOr<AssignedStorage> storage = AssignedStorage::read(function);
  if (failed(storage))
    return failure();
  std::vector<ArenaBuffer> buffers;
  ArenaPacking packing;
  packing.bytes = storage->arena().getBytes();
  for (BufferOp buffer : storage->buffers()) {
    buffers.push_back(
        {buffer.getBytes(), static_cast<uint32_t>(buffer.getFirst()), static_cast<uint32_t>(buffer.getLast())});
    packing.offsets.push_back(buffer.getOffset());
  }
  if (std::optional<std::string> fault = findPackingFault(buffers, packing))
    return storage->arena().emitOpError() << *fault;
  return verifyBufferUse(function, *storage);
}

namespace {

struct VerifySchedule : ds::impl::VerifySchedulePassBase<VerifySchedule> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
      if (isa<KernelOp>(op))
        return WalkResult::skip();
      if (failed(verifyForm(op)) || (communicates(op) && failed(verifyIsReachedByAll(op))))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || (findArena(getOperation()) && failed(verifyMemory(getOperation()))))
      signalPassFailure();
  }
};

} // namespace
