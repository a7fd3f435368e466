// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/Lifetimes.h"

using namespace mlir;
using namespace ds;

static void includeUses(std::vector<Lifetime> &lifetimes, const StoragePlan &storage, const OpTimes &times) {
  auto include = [&](ArrayRef<Value> values, uint32_t time) {
    for (Value value : values)
      lifetimes[storage.storageOf(value)].include(time);
  };
  for (Operation *op : times.ops()) {
    const OpEffects effects = effectsOf(op);
    const uint32_t time = times.of(op);
    include(effects.reads, time);
    include(effects.writes, time);
    include(effects.begins, time);
    include(effects.finishes, time);
    // Between the iterations the storage of a result holds the carried value.
    if (isa<scf::ForOp>(op))
      include(effects.writes, times.endOf(op));
  }
}

/// The time of the first op that does something when the step runs.
static uint32_t firstWork(const OpTimes &times) {
  for (Operation *op : times.ops())
    if (!isAlias(op) && !isLoadedBefore(op))
      return times.of(op);
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
    uint32_t begin = times.of(loop), end = times.endOf(loop);
    for (Lifetime &lifetime : lifetimes)
      if (lifetime.first <= begin && begin < lifetime.last)
        lifetime.last = std::max(lifetime.last, end);
  }
  return lifetimes;
}
