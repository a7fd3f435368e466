// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Clusters ops into kernels in four steps:
//   1. sink: cheap ops move down to the first matmul, collective or reduction that needs them;
//   2. cluster: in program order each op joins the cluster of a producer, clusters that meet in an op merge
//   (KernelClusters);
//   3. outline: each cluster becomes a ds.kernel, with the broadcasts, iotas and constants that it uses cloned into it;
//   4. sort: kernels and the other ops in topological order again.

#include "KernelClusters.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace ds {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

//===----------------------------------------------------------------------===//
// 1. Sink
//===----------------------------------------------------------------------===//

bool isSinkable(Operation *op) { return isFreeOp(op) || (isFusibleOp(op) && !isa<ReduceOp>(op)); }

/// The new order of a block: everything that is not sinkable in its old order, each preceded by what it needs.
class Sinker {
public:
  explicit Sinker(Block &block) : block(block) {}

  void run() {
    for (Operation &op : block.without_terminator())
      if (!isSinkable(&op))
        emitWithNeeds(&op);
    emitNeedsOf(block.getTerminator());
    for (Operation *op : order)
      op->moveBefore(block.getTerminator());
  }

private:
  void emitWithNeeds(Operation *op) {
    emitNeedsOf(op);
    emit(op);
  }

  /// Depth first over sinkable producers, without recursion: chains may be long.
  void emitNeedsOf(Operation *root) {
    SmallVector<Operation *> stack = needsOf(root);
    while (!stack.empty()) {
      Operation *op = stack.back();
      if (emitted.contains(op)) {
        stack.pop_back();
        continue;
      }
      SmallVector<Operation *> needs = needsOf(op);
      if (needs.empty()) {
        emit(op);
        stack.pop_back();
      } else {
        stack.append(needs);
      }
    }
  }

  /// The sinkable ops of this block that `op`, or an op inside it, uses and that are not emitted yet; last needed
  /// first.
  SmallVector<Operation *> needsOf(Operation *op) {
    SmallVector<Operation *> needs;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && producer->getBlock() == &block && isSinkable(producer) && !emitted.contains(producer))
          needs.push_back(producer);
      }
    });
    std::reverse(needs.begin(), needs.end());
    return needs;
  }

  void emit(Operation *op) {
    if (emitted.insert(op).second)
      order.push_back(op);
  }

  Block &block;
  DenseSet<Operation *> emitted;
  SmallVector<Operation *> order;
};

//===----------------------------------------------------------------------===//
// 3. Outline
//===----------------------------------------------------------------------===//

/// Compares ops by all that their results depend on.
struct SameResults : DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    for (const Operation *special : {getEmptyKey(), getTombstoneKey()})
      if (a == special || b == special)
        return a == b;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a), const_cast<Operation *>(b),
                                                OperationEquivalence::IgnoreLocations);
  }
};

/// Clones ops into the body of a kernel, each with its free producers. Several users of a value may each have
/// recomputed it: of ops with the same results there is one.
class BodyBuilder {
public:
  explicit BodyBuilder(KernelOp kernel)
      : kernel(kernel), body(kernel.getBody().emplaceBlock()), builder(OpBuilder::atBlockEnd(&body)) {}

  void add(Operation *op) {
    for (Value operand : op->getOperands())
      mapping.map(operand, find(operand));
    Operation *clone = builder.clone(*op, mapping);
    auto [known, isNew] = made.insert(clone);
    if (isNew)
      return;
    mapping.map(op->getResults(), (*known)->getResults());
    clone->erase();
  }

  void yield(ArrayRef<Value> results) {
    YieldOp::create(builder, kernel.getLoc(),
                    llvm::map_to_vector(results, [&](Value result) { return mapping.lookup(result); }));
  }

private:
  /// `value` in the body: an input, unless it is made there.
  Value find(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    if (Operation *op = value.getDefiningOp(); op && isFreeOp(op)) {
      add(op);
      return mapping.lookup(value);
    }
    kernel.getInputsMutable().append(value);
    Value argument = body.addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  }

  KernelOp kernel;
  Block &body;
  OpBuilder builder;
  IRMapping mapping;
  DenseSet<Operation *, SameResults> made;
};

/// Whether an op that is no member reads `value`, itself or by what is made anew in each kernel.
bool isReadOutside(Value value, const DenseSet<Operation *> &members) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !members.contains(user) && (!isFreeOp(user) || isReadOutside(user->getResult(0), members));
  });
}

/// Erases an op that only free ops read which nothing reads.
void eraseWithReaders(Operation *op) {
  while (!op->use_empty())
    eraseWithReaders(*op->user_begin());
  op->erase();
}

void outline(ArrayRef<Operation *> ops) {
  DenseSet<Operation *> members(ops.begin(), ops.end());
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (isReadOutside(result, members))
        results.push_back(result);
  Operation *last = ops.back();
  OpBuilder builder(last);
  auto kernel =
      KernelOp::create(builder, last->getLoc(), TypeRange(ValueRange(results)), ValueRange(), ArrayRef<int64_t>());
  BodyBuilder body(kernel);
  for (Operation *op : ops)
    body.add(op);
  body.yield(results);
  for (auto [old, made] : llvm::zip_equal(results, kernel.getResults()))
    old.replaceUsesWithIf(made, [&](OpOperand &use) { return !members.contains(use.getOwner()); });
  for (Operation *op : llvm::reverse(ops))
    eraseWithReaders(op);
}

/// A broadcast or iota with users outside kernels becomes a kernel of its own.
void outlineRemainingFree(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isFreeOp(&op) || isa<arith::ConstantOp>(op))
      continue;
    if (op.use_empty())
      continue;
    bool feedsFreeAlone = llvm::all_of(op.getUsers(), [](Operation *user) { return isFreeOp(user); });
    if (!feedsFreeAlone)
      outline({&op});
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isFreeOp(&op) && op.use_empty())
      op.erase();
}

//===----------------------------------------------------------------------===//
// 4. Sort
//===----------------------------------------------------------------------===//

/// Orders a block topologically in rounds: each takes, in the block's order, the ops whose producers have been taken.
/// So ops stay near their place, as with MLIR's sortTopologically, which walks through the whole block in each round; a
/// model has a round per layer, so here the round of each op is computed from those of its producers.
class RoundSorter {
public:
  explicit RoundSorter(Block &block) : block(block) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    for (Operation &op : block.without_terminator()) {
      placeOf[&op] = ops.size();
      ops.push_back(&op);
    }
    for (Operation *op : ops)
      if (failed(findRound(op)))
        return op->emitOpError("needs its own result");
    llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return roundOf.at(a) < roundOf.at(b); });
    for (Operation *op : ops)
      op->moveBefore(&block, block.without_terminator().end());
    return success();
  }

private:
  /// Depth first over producers, without recursion: chains are long. Fails if `root` is on a cycle.
  LogicalResult findRound(Operation *root) {
    SmallVector<Operation *> stack = {root};
    DenseSet<Operation *> path;
    while (!stack.empty()) {
      Operation *op = stack.back();
      path.insert(op);
      SmallVector<Operation *> missing;
      std::optional<unsigned> round = roundFromProducers(op, missing);
      if (round) {
        roundOf[op] = *round;
        path.erase(op);
        stack.pop_back();
      }
      if (llvm::any_of(missing, [&](Operation *producer) { return path.contains(producer); }))
        return failure();
      stack.append(missing);
    }
    return success();
  }

  /// The round in which `op` is taken, or nothing and the producers whose round is not known.
  std::optional<unsigned> roundFromProducers(Operation *op, SmallVectorImpl<Operation *> &missing) {
    unsigned round = 0;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || producer->getBlock() != &block)
          continue;
        auto known = roundOf.find(producer);
        if (known == roundOf.end())
          missing.push_back(producer);
        else
          round = std::max(round, known->second + (placeOf.at(producer) > placeOf.at(op)));
      }
    });
    return missing.empty() ? std::optional(round) : std::nullopt;
  }

  Block &block;
  DenseMap<Operation *, unsigned> placeOf, roundOf;
};

LogicalResult formKernels(Block &block) {
  Sinker(block).run();
  KernelClusters clusters(block);
  for (ArrayRef<Operation *> ops : clusters.run())
    outline(ops);
  outlineRemainingFree(block);
  return RoundSorter(block).run();
}

struct FormKernels : ds::impl::FormKernelsPassBase<FormKernels> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      if (failed(formKernels(*block)))
        return signalPassFailure();
  }
};

} // namespace
