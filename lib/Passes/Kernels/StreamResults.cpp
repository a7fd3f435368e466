// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "ds/Analysis/KernelShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_STREAMRESULTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

static int64_t maxBytesOf(Value value, const Mesh &mesh) {
  const int64_t bits = cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
  return maxOwnedElements(layoutOf(value), shapeOf(value.getType()), mesh) * llvm::divideCeil(bits, 8);
}

/// Whether the result can lie where an input ends its life: then its lines are read anyway.
static bool canReplaceInput(KernelOp kernel, unsigned result) {
  for (auto [number, input] : llvm::enumerate(kernel.getInputs())) {
    Operation *source = input.getDefiningOp();
    if (source && !isa<ReadOp>(source) && input.hasOneUse() && mayShareBuffer(kernel, result, number))
      return true;
  }
  return false;
}

namespace {
struct StreamResults : ds::impl::StreamResultsPassBase<StreamResults> {
  using StreamResultsPassBase::StreamResultsPassBase;

  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    getOperation().walk([&](KernelOp kernel) {
      SmallVector<int64_t> large;
      for (OpResult result : kernel.getResults())
        if (maxBytesOf(result, mesh) >= minBytes && !canReplaceInput(kernel, result.getResultNumber()))
          large.push_back(result.getResultNumber());
      if (!large.empty())
        kernel.setStreamed(large);
    });
  }
};
} // namespace
