// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "ds/Analysis/KernelShape.h"
#include "ds/Analysis/Storage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_STREAMRESULTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// Whether the result can lie where an input ends its life: then its lines are read anyway.
static bool canReplaceInput(OpResult result) {
  Operation *op = result.getOwner();
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *source = operand.get().getDefiningOp();
    if (source && !isa<ReadOp>(source) && operand.get().hasOneUse() &&
        mayShareBuffer(op, result.getResultNumber(), operand.getOperandNumber()))
      return true;
  }
  return false;
}

namespace {
struct StreamResults : ds::impl::StreamResultsPassBase<StreamResults> {
  using StreamResultsPassBase::StreamResultsPassBase;

  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    auto isStreamed = [&](OpResult result) {
      return maxBytes(result.getType(), mesh) >= minBytes && !canReplaceInput(result);
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
