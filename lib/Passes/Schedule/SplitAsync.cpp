// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace ds {
#define GEN_PASS_DEF_SPLITASYNCPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

std::optional<CollectiveKind> collectiveKindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<CollectiveKind>>(op)
      .Case([](AllGatherOp) { return CollectiveKind::AllGather; })
      .Case([](ReduceScatterOp) { return CollectiveKind::ReduceScatter; })
      .Case([](AllReduceOp) { return CollectiveKind::AllReduce; })
      .Case([](AllToAllOp) { return CollectiveKind::AllToAll; })
      .Default([](Operation *) { return std::nullopt; });
}

struct SplitAsync : ds::impl::SplitAsyncPassBase<SplitAsync> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      std::optional<CollectiveKind> kind = collectiveKindOf(op);
      if (!kind)
        return;
      OpBuilder builder(op);
      Value input = op->getOperand(0);
      Type type = op->getResult(0).getType();
      auto start = StartOp::create(builder, op->getLoc(), *kind, ValueRange(input),
                                   op->getAttrOfType<StringAttr>("axis"), builder.getTypeArrayAttr({type}));
      auto wait = WaitOp::create(builder, op->getLoc(), TypeRange(type), start.getToken(), ValueRange(input));
      op->getResult(0).replaceAllUsesWith(wait.getResult(0));
      op->erase();
    });
  }
};

} // namespace
