// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Collectives.h"

#include "ds/Analysis/TensorSizes.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace ds {
#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// Collectives that will go together.
struct Bucket {
  SmallVector<StartOp> starts;
  int64_t bytes = 0;
  int64_t firstPlace = 0;
};

/// What collectives must have in common: kind, axis, element type, and for reductions the fold.
using BucketKey = std::tuple<CollectiveKind, Attribute, Type, int>;

class Bucketer {
public:
  Bucketer(Block &block, int64_t maxBytes, int64_t window) : block(block), maxBytes(maxBytes), window(window) {}

  void run() {
    moveAssignsToEnd();
    joinParameterGathers();
    joinOthers();
  }

private:
  static BucketKey keyOf(StartOp start) {
    Value input = start.getInputs().front();
    const Layout layout = layoutOf(input);
    auto partial = layout.partial.find(start.getAxis().str());
    int fold = partial == layout.partial.end() ? 0 : static_cast<int>(partial->second);
    return {start.getKind(), start.getAxisAttr(), cast<RankedTensorType>(input.getType()).getElementType(), fold};
  }

  void moveAssignsToEnd() {
    SmallVector<AssignOp> assigns = llvm::to_vector(block.getOps<AssignOp>());
    for (AssignOp assign : assigns)
      assign->moveBefore(block.getTerminator());
  }

  /// Gathers of parameters join the first of them; their inputs are there already.
  void joinParameterGathers() {
    int64_t place = 0;
    auto close = [&](Bucket &bucket) {
      if (bucket.starts.size() > 1)
        join(bucket, bucket.starts.front());
      bucket = Bucket();
    };
    llvm::MapVector<Attribute, Bucket> buckets;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      ++place;
      auto start = dyn_cast<StartOp>(op);
      if (!start || !gathersParameters(start))
        continue;
      Bucket &bucket = buckets[start.getAxisAttr()];
      bool isFar = !bucket.starts.empty() && place - bucket.firstPlace > window;
      bool isOther = !bucket.starts.empty() && keyOf(start) != keyOf(bucket.starts.front());
      if (isFar || isOther || bucket.bytes >= maxBytes)
        close(bucket);
      addTo(bucket, start, place);
    }
    for (auto &[axis, bucket] : buckets)
      close(bucket);
  }

  static void addTo(Bucket &bucket, StartOp start, int64_t place) {
    if (bucket.starts.empty())
      bucket.firstPlace = place;
    bucket.starts.push_back(start);
    for (Value result : waitOf(start).getResults())
      bucket.bytes += globalBytes(result.getType());
  }

  /// The others join the last of them, as long as nobody needs an earlier one.
  void joinOthers() {
    llvm::MapVector<Attribute, Bucket> buckets; // one open bucket per axis
    auto close = [&](Bucket &bucket) {
      if (bucket.starts.size() > 1)
        join(bucket, waitOf(bucket.starts.back()));
      bucket = Bucket();
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa<WaitOp>(op) || !isOpen(buckets, op))
        for (auto &[axis, bucket] : buckets)
          if (needs(&op, bucket))
            close(bucket);
      auto start = dyn_cast<StartOp>(op);
      if (!start || gathersParameters(start))
        continue;
      Bucket &bucket = buckets[start.getAxisAttr()];
      bool isOther = !bucket.starts.empty() && keyOf(start) != keyOf(bucket.starts.front());
      if (isOther || bucket.bytes >= maxBytes)
        close(bucket);
      addTo(bucket, start, 0);
    }
    for (auto &[axis, bucket] : buckets)
      close(bucket);
  }

  /// Whether `op` is the wait of a member of an open bucket.
  static bool isOpen(llvm::MapVector<Attribute, Bucket> &buckets, Operation &op) {
    auto wait = cast<WaitOp>(op);
    for (auto &[axis, bucket] : buckets)
      if (llvm::is_contained(bucket.starts, wait.getToken().getDefiningOp<StartOp>()))
        return true;
    return false;
  }

  /// Whether `op`, or an op inside it, uses a result of the bucket.
  static bool needs(Operation *op, const Bucket &bucket) {
    if (bucket.starts.empty())
      return false;
    bool found = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto wait = operand.getDefiningOp<WaitOp>())
          found |= llvm::is_contained(bucket.starts, wait.getToken().getDefiningOp<StartOp>());
    });
    return found;
  }

  /// One start and wait, at `place`, for all members.
  void join(Bucket &bucket, Operation *place) {
    OpBuilder builder(block.getParentOp()->getContext());
    bool isBefore = isa<StartOp>(place);
    if (isBefore)
      builder.setInsertionPoint(place);
    else
      builder.setInsertionPointAfter(place);
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    for (StartOp start : bucket.starts) {
      for (Value input : start.getInputs()) {
        if (auto fence = input.getDefiningOp<FenceOp>(); fence && isBefore)
          fence->moveBefore(place);
        inputs.push_back(input);
      }
      llvm::append_range(types, waitOf(start).getResultTypes());
    }
    auto start = StartOp::create(builder, place->getLoc(), bucket.starts.front().getKind(), inputs,
                                 bucket.starts.front().getAxisAttr(), builder.getTypeArrayAttr(types));
    auto wait = WaitOp::create(builder, place->getLoc(), types, start.getToken(), inputs);
    remark::passed(place->getLoc(), remark::RemarkOpts::name("bucketed").category("ds-bucket-collectives"))
        << std::to_string(inputs.size()) << " tensors, " << std::to_string(bucket.bytes) << " bytes";
    unsigned next = 0;
    for (StartOp old : bucket.starts) {
      WaitOp oldWait = waitOf(old);
      for (Value result : oldWait.getResults())
        result.replaceAllUsesWith(wait.getResult(next++));
      oldWait.erase();
      old.erase();
    }
  }

  Block &block;
  int64_t maxBytes, window;
};

struct BucketCollectives : ds::impl::BucketCollectivesPassBase<BucketCollectives> {
  using BucketCollectivesPassBase::BucketCollectivesPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<KernelOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      Bucketer(*block, bytes, window).run();
  }
};

} // namespace
