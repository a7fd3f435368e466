// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "ds/Analysis/KernelShape.h"
#include "ds/Analysis/RowSchedule.h"
#include "ds/Analysis/Storage.h"
#include "ds/Analysis/TensorSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_STREAMRESULTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// Whether the result is what a variable holds after the step that is held by `value` before.
static bool replacesVariable(OpResult result, Value value) {
  auto read = value.getDefiningOp<ReadOp>();
  return read && llvm::any_of(result.getUsers(), [&](Operation *user) {
           auto assign = dyn_cast<AssignOp>(user);
           return assign && assign.getVariable() == read.getVariable();
         });
}

/// Whether the result can lie where an input ends its life: then its lines are read anyway.
static bool canReplaceInput(OpResult result, BufferSharing &sharing) {
  Operation *op = result.getOwner();
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    Value value = operand.get();
    Operation *source = value.getDefiningOp();
    const bool endsHere = source && !isa<ReadOp>(source) && value.hasOneUse();
    return (endsHere || replacesVariable(result, value)) &&
           sharing.isAllowed(op, result.getResultNumber(), operand.getOperandNumber());
  });
}

/// Whether a row of the result holds what one pass over its columns computes until a later one. Past the caches it
/// would be stored at once, with no arithmetic beside it.
static bool isKeptBetweenPasses(OpResult result) {
  auto kernel = dyn_cast<KernelOp>(result.getOwner());
  if (!kernel)
    return false;
  FailureOr<KernelGraph> graph = buildKernelGraph(kernel);
  if (failed(graph))
    return false;
  return llvm::any_of(scheduleRow(*graph).kept, [&](const std::optional<KeptIn> &kept) {
    return kept && kept->place == KeptIn::Result && kept->number == result.getResultNumber();
  });
}

namespace {
struct StreamResults : ds::impl::StreamResultsPassBase<StreamResults> {
  using StreamResultsPassBase::StreamResultsPassBase;

  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    BufferSharing sharing;
    auto isStreamed = [&](OpResult result) {
      const uint64_t bytes = maxLocalBytes(result.getType(), mesh);
      return bytes >= minBytes && !canReplaceInput(result, sharing) &&
             (bytes >= 2 * minBytes || !isKeptBetweenPasses(result));
    };
    getOperation().walk([&](Operation *op) {
      if (auto rotary = dyn_cast<RotaryEmbeddingOp>(op))
        rotary.setStreamed(isStreamed(rotary->getResult(0)));
      auto kernel = dyn_cast<KernelOp>(op);
      if (!kernel)
        return;
      SmallVector<int64_t> streamed;
      for (OpResult result : kernel.getResults())
        if (isStreamed(result))
          streamed.push_back(result.getResultNumber());
      if (!streamed.empty())
        kernel.setStreamed(streamed);
    });
  }
};
} // namespace
