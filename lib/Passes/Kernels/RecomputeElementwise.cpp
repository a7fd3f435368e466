// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KernelClusters.h"

#include "ds/Analysis/OpCost.h"
#include "ds/Analysis/TensorSizes.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace ds {
#define GEN_PASS_DEF_RECOMPUTEELEMENTWISEPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// What one element may cost: reading and writing it takes the time of some thirty operations in registers.
static constexpr size_t kMostOps = 24, kMostTranscendentals = 2;

/// Elementwise ops and what is made anew in each kernel.
static bool isRecomputable(Operation *op) { return isFreeOp(op) || (isFusibleOp(op) && !isa<ReduceOp>(op)); }

namespace {

/// The ops that make a value from others that are in memory anyway.
struct Recipe {
  llvm::SetVector<Operation *> ops; ///< producers first
  llvm::SetVector<Value> leaves;
};

/// The values of one block that are cheaper to make again than to keep.
class Recomputer {
public:
  explicit Recomputer(Block &block) : block(block) {
    int64_t segment = 0;
    for (Operation &op : block) {
      bool isInKernel = isFusibleOp(&op) || isFreeOp(&op) || isa<ReadOp, FenceOp, ReshapeOp>(op);
      segmentOf[&op] = isInKernel ? segment : ++segment;
    }
  }

  void run() {
    SmallVector<Operation *> candidates;
    for (Operation &op : block)
      if (isFusibleOp(&op) && !isa<ReduceOp>(op) && !isInMemory(op.getResult(0)))
        candidates.push_back(&op);
    for (Operation *op : candidates)
      recompute(op->getResult(0));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isRecomputable(&op) && op.use_empty())
        op.erase();
  }

private:
  /// Whether an op outside kernels reads the value, or makes it, or it was found worth keeping.
  bool isInMemory(Value value) const {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != &block || !isRecomputable(op) || kept.contains(value) ||
           llvm::any_of(value.getUsers(), [&](Operation *user) { return !isFusibleOp(user) && !isFreeOp(user); });
  }

  /// Nothing if the recipe costs more than the value.
  std::optional<Recipe> findRecipe(Value value) const {
    Recipe recipe;
    size_t transcendentals = 0;
    if (!addToRecipe(value.getDefiningOp(), recipe, transcendentals))
      return std::nullopt;
    return recipe;
  }

  bool addToRecipe(Operation *op, Recipe &recipe, size_t &transcendentals) const {
    for (Value operand : op->getOperands()) {
      // What is repeated is small: a statistic, which is kept.
      bool isRepeated = isa<BroadcastOp>(op) && operand.getDefiningOp() && !isFreeOp(operand.getDefiningOp());
      if (isRepeated || isInMemory(operand))
        recipe.leaves.insert(operand);
      else if (!recipe.ops.contains(operand.getDefiningOp()) &&
               !addToRecipe(operand.getDefiningOp(), recipe, transcendentals))
        return false;
    }
    recipe.ops.insert(op);
    transcendentals += isCostly(op);
    return recipe.ops.size() <= kMostOps && transcendentals <= kMostTranscendentals;
  }

  /// Whether what the recipe reads in `segment`, and nobody else does there, is no larger than the value.
  bool savesMemory(Value value, const Recipe &recipe, int64_t segment) const {
    uint64_t read = 0;
    for (Value leaf : recipe.leaves) {
      bool isReadAnyway =
          llvm::any_of(leaf.getUsers(), [&](Operation *user) { return segmentOf.lookup_or(user, -1) == segment; });
      if (!isReadAnyway)
        read += globalBytes(leaf.getType());
    }
    // Statistics of rows are small beside their rows.
    const uint64_t bytes = globalBytes(value.getType());
    return read <= bytes + bytes / 8;
  }

  void recompute(Value value) {
    int64_t home = segmentOf.lookup(value.getDefiningOp());
    llvm::MapVector<int64_t, SmallVector<OpOperand *>> uses; // by segment
    for (OpOperand &use : value.getUses())
      if (int64_t segment = segmentOf.lookup_or(use.getOwner(), home); segment > home)
        uses[segment].push_back(&use);
    bool isRepeated = llvm::all_of(value.getUsers(), llvm::IsaPred<BroadcastOp>);
    std::optional<Recipe> recipe = uses.empty() || isRepeated ? std::nullopt : findRecipe(value);
    for (auto &[segment, operands] : uses) {
      if (recipe && savesMemory(value, *recipe, segment))
        replace(value, *recipe, operands);
      else
        kept.insert(value);
    }
  }

  void replace(Value value, const Recipe &recipe, ArrayRef<OpOperand *> uses) {
    Operation *first = uses.front()->getOwner();
    for (OpOperand *use : uses)
      if (use->getOwner()->isBeforeInBlock(first))
        first = use->getOwner();
    OpBuilder builder(first);
    IRMapping mapping;
    for (Operation *op : recipe.ops)
      segmentOf[builder.clone(*op, mapping)] = segmentOf.lookup(first);
    for (OpOperand *use : uses)
      use->set(mapping.lookup(value));
  }

  Block &block;
  DenseMap<Operation *, int64_t> segmentOf; ///< the number of separating ops before it
  DenseSet<Value> kept;
};

struct RecomputeElementwise : ds::impl::RecomputeElementwisePassBase<RecomputeElementwise> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      Recomputer(*block).run();
  }
};

} // namespace
