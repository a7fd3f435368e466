// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/Lifetimes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ds;

void OpTimes::number(Block &block) {
  for (Operation &op : block) {
    times[&op] = inOrder.size();
    inOrder.push_back(&op);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      number(*loop.getBody());
  }
}

bool ds::isAlias(Operation *op) { return isa<ReadOp, ReshapeOp, FenceOp>(op); }

/// The time at which the memory of the results of `op` is first written.
static uint32_t birthTime(Operation *op, const OpTimes &times) {
  auto wait = dyn_cast<WaitOp>(op);
  return times.of(wait ? wait.getToken().getDefiningOp() : op);
}

static void includeUses(std::vector<Lifetime> &lifetimes, const StoragePlan &storage, const OpTimes &times) {
  auto include = [&](Value value, uint32_t time) {
    if (isa<RankedTensorType>(value.getType()))
      lifetimes[storage.storageOf(value)].include(time);
  };
  for (Operation *op : times.ops()) {
    if (isAlias(op))
      continue;
    for (Value operand : op->getOperands())
      include(operand, times.of(op));
    for (Value result : op->getResults())
      include(result, birthTime(op, times));
    // Between the iterations the storage of a result holds the carried value.
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (Value result : loop.getResults())
        include(result, times.of(loop.getBody()->getTerminator()));
  }
}

/// The time of the first op that does something when the step runs: a constant that is no splat is loaded before, and
/// what renames memory is no instruction.
static uint32_t firstWork(const OpTimes &times) {
  for (Operation *op : times.ops()) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (!isAlias(op) && (!constant || isa<SplatElementsAttr>(constant.getValue())))
      return times.of(op);
  }
  return times.last();
}

std::vector<Lifetime> ds::findLifetimes(const StoragePlan &storage, const OpTimes &times) {
  std::vector<Lifetime> lifetimes(storage.storages().size());
  includeUses(lifetimes, storage, times);
  for (auto [lifetime, kept] : llvm::zip_equal(lifetimes, storage.storages())) {
    if (kept.isVariable || kept.isInput || lifetime.first == UINT32_MAX)
      lifetime.include(0);
    // An input is in memory when the first instruction runs, even if nothing reads it.
    if (kept.isInput)
      lifetime.include(firstWork(times));
    if (kept.isVariable || kept.isOutput)
      lifetime.include(times.last());
  }
  // What comes from before the loop is needed by the next iteration, too; what is only copied as it begins is not.
  for (Operation *op : llvm::reverse(times.ops())) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    uint32_t begin = times.of(loop), end = times.of(loop.getBody()->getTerminator());
    for (Lifetime &lifetime : lifetimes)
      if (lifetime.first <= begin && begin < lifetime.last)
        lifetime.last = std::max(lifetime.last, end);
  }
  return lifetimes;
}
