// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// In three steps, for each block:
//   1. every wait goes right before the first user of its results;
//   2. gathers of parameters, from the last to the first of each axis, start as late as they can and still end before
//      they are needed, given that the axis runs one collective at a time;
//   3. the waits of the others go to where they will have ended, so that their sources can be released.

#include "Collectives.h"

#include "ds/Analysis/PredictedWork.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// The ops of a block that stay where they are, and when the compute queue comes to each of them if it never waits.
/// The place of what moves is that of the next op that stays.
struct Timeline {
  explicit Timeline(Block &block) {
    double now = 0;
    for (Operation &op : block) {
      places[&op] = ops.size();
      if (isa<StartOp, WaitOp, FenceOp>(op))
        continue;
      ops.push_back(&op);
      begins.push_back(now);
      now += durationOf(&op);
    }
  }

  static double durationOf(Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return predictedSeconds(op);
    double body = 0;
    for (Operation &inner : *loop.getBody())
      body += isa<StartOp>(inner) ? 0 : durationOf(&inner); // that is on the queue of its axis
    std::optional<APInt> trips = loop.getStaticTripCount();
    return trips ? body * trips->roundToDouble() : body;
  }

  double beginOf(Operation *op) const { return begins[places.lookup(op)]; }
  /// The first op, from place `from` on, that begins at `time` or later; the last op if none does.
  size_t firstPlaceAfter(double time, size_t from) const {
    auto found = std::lower_bound(begins.begin() + from, begins.end(), time);
    return std::min<size_t>(found - begins.begin(), ops.size() - 1);
  }
  /// The last op, from place `from` on, that begins at `time` or earlier; `from` if none does.
  size_t lastPlaceBefore(double time, size_t from) const {
    size_t behind = std::upper_bound(begins.begin() + from, begins.end(), time) - begins.begin();
    return std::max(behind, from + 1) - 1;
  }

  std::vector<Operation *> ops;
  std::vector<double> begins; ///< seconds, ascending
  DenseMap<Operation *, size_t> places;
};

/// Puts every wait right before the first op of the block that needs a result of it; before the terminator if none
/// does.
void waitLate(Block &block, ArrayRef<StartOp> starts) {
  DenseMap<Operation *, size_t> order;
  for (Operation &op : block)
    order[&op] = order.size();
  for (StartOp start : starts) {
    Operation *first = block.getTerminator();
    for (Operation *user : waitOf(start)->getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (order.lookup(inBlock) < order.lookup(first))
        first = inBlock;
    }
    waitOf(start)->moveBefore(first);
  }
}

/// The fences that `gather` alone reads `value` through, outermost first. They move with it.
SmallVector<FenceOp> fencesOf(StartOp gather, Value value) {
  SmallVector<FenceOp> fences;
  auto isOwn = [&](Operation *user) {
    return user == gather || user == waitOf(gather) || (!fences.empty() && user == fences.back());
  };
  for (auto fence = value.getDefiningOp<FenceOp>(); fence && llvm::all_of(fence->getUsers(), isOwn);
       fence = fence.getInput().getDefiningOp<FenceOp>())
    fences.push_back(fence);
  return fences;
}

/// The collectives of one axis in one block.
class AxisScheduler {
public:
  AxisScheduler(ArrayRef<StartOp> starts, const Timeline &timeline) : starts(starts), timeline(timeline) {}

  void run() {
    for (StartOp start : llvm::reverse(starts))
      if (gathersParameters(start))
        startLate(start);
    releaseSources();
  }

private:
  /// When `gather` must begin to end at `deadline` at the latest: before any collective that would hold it up.
  double latestBegin(StartOp gather, double deadline) const {
    const double duration = predictedSeconds(gather);
    double begin = deadline - duration;
    for (StartOp other : llvm::reverse(starts)) {
      if (gathersParameters(other))
        continue;
      const double otherBegin = timeline.beginOf(other), otherEnd = otherBegin + predictedSeconds(other);
      if (otherBegin < begin + duration && begin < otherEnd)
        begin = otherBegin - duration;
    }
    return begin;
  }

  /// The place behind all that `gather` reads.
  size_t earliestPlace(StartOp gather) const {
    size_t place = 0;
    for (Value value : gather.getInputs()) {
      for (FenceOp fence : fencesOf(gather, value))
        value = fence.getInput();
      Operation *op = value.getDefiningOp();
      if (op && op->getBlock() == gather->getBlock())
        place = std::max(place, timeline.places.lookup(op) + 1);
    }
    return place;
  }

  void startLate(StartOp gather) {
    WaitOp wait = waitOf(gather);
    const size_t needed = timeline.places.lookup(wait), earliest = earliestPlace(gather);
    const double begin = latestBegin(gather, std::min(timeline.begins[needed], axisIsNeeded));
    const size_t place = std::min(timeline.lastPlaceBefore(begin, earliest), needed);
    Operation *target = place == needed ? wait : timeline.ops[place];
    if (place < needed && nextGather && earliest <= nextPlace && nextPlace <= place)
      target = nextGather;
    for (Value input : gather.getInputs()) {
      const SmallVector<FenceOp> fences =
          fencesOf(gather, input); // Named, as llvm::reverse does not keep a temporary alive.
      for (FenceOp fence : llvm::reverse(fences))
        fence->moveBefore(target);
    }
    gather->moveBefore(target);
    axisIsNeeded = begin;
    nextGather = gather;
    nextPlace = std::min(place, nextPlace);
  }

  void releaseSources() {
    double axisIsFree = 0;
    for (StartOp start : starts) {
      axisIsFree = std::max(axisIsFree, timeline.beginOf(start)) + predictedSeconds(start);
      if (gathersParameters(start))
        continue;
      const size_t ended = timeline.firstPlaceAfter(axisIsFree, timeline.places.lookup(start));
      if (ended < timeline.places.lookup(waitOf(start)))
        waitOf(start)->moveBefore(timeline.ops[ended]);
    }
  }

  ArrayRef<StartOp> starts;
  const Timeline &timeline;
  double axisIsNeeded = std::numeric_limits<double>::infinity(); ///< by the gather behind the one at hand
  Operation *nextGather = nullptr;
  size_t nextPlace = std::numeric_limits<size_t>::max();
};

void schedule(Block &block) {
  SmallVector<StartOp> starts = llvm::to_vector(block.getOps<StartOp>());
  waitLate(block, starts);
  const Timeline timeline(block);
  llvm::MapVector<Attribute, SmallVector<StartOp>> byAxis;
  for (StartOp start : starts)
    byAxis[start.getAxisAttr()].push_back(start);
  for (auto &[axis, ofAxis] : byAxis)
    AxisScheduler(ofAxis, timeline).run();
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
