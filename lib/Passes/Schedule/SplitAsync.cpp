// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_SPLITASYNCPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct SplitAsync : ds::impl::SplitAsyncPassBase<SplitAsync> {
  void runOnOperation() override {
    getOperation().walk([&](LayoutCastOpInterface op) {
      std::optional<CollectiveKind> kind = findCollectiveKind(op.getCastKind());
      if (!kind)
        return;
      OpBuilder builder(op);
      Value input = op->getOperand(0);
      Type type = op->getResult(0).getType();
      auto start = StartOp::create(builder, op->getLoc(), *kind, ValueRange(input),
                                   builder.getStringAttr(op.getCastAxis()), builder.getTypeArrayAttr({type}));
      auto wait = WaitOp::create(builder, op->getLoc(), TypeRange(type), start.getToken(), ValueRange(input));
      op->getResult(0).replaceAllUsesWith(wait.getResult(0));
      op->erase();
    });
  }
};

} // namespace
