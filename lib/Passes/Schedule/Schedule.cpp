// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Collectives.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// The first op of the block that needs a result of `wait`; its terminator if none does.
Operation *firstUser(WaitOp wait, const DenseMap<Operation *, int64_t> &places) {
  Block *block = wait->getBlock();
  Operation *first = block->getTerminator();
  for (Operation *user : wait->getUsers()) {
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    if (places.lookup(inBlock) < places.lookup(first))
      first = inBlock;
  }
  return first;
}

void schedule(Block &block) {
  DenseMap<Operation *, int64_t> places;
  SmallVector<StartOp> starts;
  for (Operation &op : block) {
    places[&op] = places.size();
    if (auto start = dyn_cast<StartOp>(op))
      starts.push_back(start);
  }
  for (StartOp start : starts)
    waitOf(start)->moveBefore(firstUser(waitOf(start), places));
  // Start the next gather of parameters before the wait of the one before it.
  llvm::MapVector<Attribute, StartOp> previous;
  for (StartOp start : starts) {
    if (!gathersParameters(start))
      continue;
    if (StartOp before = previous.lookup(start.getAxisAttr())) {
      WaitOp wait = waitOf(before);
      for (Value input : start.getInputs())
        if (auto fence = input.getDefiningOp<FenceOp>())
          fence->moveBefore(wait);
      start->moveBefore(wait);
    }
    previous[start.getAxisAttr()] = start;
  }
}

struct Schedule : ds::impl::SchedulePassBase<Schedule> {
  void runOnOperation() override {
    getOperation().walk([&](Block *block) {
      if (!isa<KernelOp>(block->getParentOp()))
        schedule(*block);
    });
  }
};

} // namespace
