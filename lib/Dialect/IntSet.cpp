// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/IntSet.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

void IntSet::intersect(const IntSet &set) {
  SmallVector<int64_t, 1> kept;
  for (int64_t value : others)
    if (set.contains(value))
      kept.push_back(value);
  for (int64_t value : set.others)
    if (contains(value) && !llvm::is_contained(kept, value))
      kept.push_back(value);
  low = std::max(low, set.low);
  high = std::max(low, std::min(high, set.high));
  llvm::erase_if(kept, [&](int64_t value) { return low <= value && value < high; });
  llvm::sort(kept);
  others = std::move(kept);
}

/// Whether `value` is a parameter of the model, seen through what moves it.
static bool isParameter(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<LayoutCastOpInterface, ConstrainOp, FenceOp, RelayoutOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto read = dyn_cast_or_null<ReadOp>(op);
  auto variable = read ? SymbolTable::lookupNearestSymbolFrom<VariableOp>(read, read.getVariableAttr()) : VariableOp();
  return variable && variable.getRole() == VariableRole::Parameter;
}

namespace {
/// Follows the uses of integers to the ops that index with them.
class UseVisitor {
public:
  explicit UseVisitor(IntUses uses) : followsLikely(uses == IntUses::Likely) {}

  void visit(Value value) {
    if (!visited.insert(value).second)
      return;
    for (OpOperand &use : value.getUses())
      visitUse(use);
  }

  std::optional<IntSet> allowed;

private:
  void meet(const IntSet &set) {
    if (allowed)
      allowed->intersect(set);
    else
      allowed = set;
  }
  /// Indices may count from the end.
  void meetIndices(int64_t size) { meet({-size, size, {}}); }
  /// Those of an embedding may not: there a negative number is a mistake, such as a padding that the model does not
  /// know.
  void meetRows(Value table) {
    const int64_t size = dimSize(table, 0);
    isParameter(table) ? meet({0, size, {}}) : meetIndices(size);
  }
  void visitIfLikely(Value value) {
    if (followsLikely)
      visit(value);
  }

  static int64_t dimSize(Value value, int64_t dim) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); }

  template <typename OpT> void visitLabels(OpT op, OpOperand &use) {
    if (use.get() != op.getLabels())
      return;
    IntSet labels{0, op.getLogits().getType().getShape().back(), {}};
    const auto ignored = static_cast<int64_t>(op.getIgnoreIndex());
    if (ignored != kIgnoresNothing && !labels.contains(ignored))
      labels.others.push_back(ignored);
    meet(labels);
  }

  void visitUse(OpOperand &use) {
    const unsigned number = use.getOperandNumber();
    llvm::TypeSwitch<Operation *>(use.getOwner())
        .Case([&](GatherRowsOp op) { number == 1 ? meetRows(op.getTable()) : visitIfLikely(op.getResult()); })
        .Case([&](ScatterAddRowsOp op) {
          if (number == 0)
            meetIndices(dimSize(op.getResult(), 0));
        })
        .Case([&](GatherElementsOp op) {
          number == 1 ? meetIndices(dimSize(op.getInput(), op.getDim())) : visitIfLikely(op.getResult());
        })
        .Case([&](ScatterElementsOp op) {
          number == 0 ? meetIndices(dimSize(op.getResult(), op.getDim())) : visitIfLikely(op.getResult());
        })
        .Case([&](CrossEntropyOp op) { visitLabels(op, use); })
        .Case([&](CrossEntropyGradOp op) { visitLabels(op, use); })
        .Case([&](TakePartOp op) {
          number == 1 ? meet({0, static_cast<int64_t>(op.getParts()), {}}) : visit(op.getResult());
        })
        .Case([&](WaitOp op) { visit(op.getResults()[number - 1]); })
        .Case([&](KernelOp op) { visit(op.getBody().getArgument(number)); })
        // Ops that move integers and do not change them, but for their width.
        .Case<LayoutCastOpInterface, BroadcastOp, ConcatOp, ConstrainOp, FenceOp, RelayoutOp, ReshapeOp, SliceOp,
              TransposeOp, arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
            [&](auto op) { visit(op->getResult(0)); })
        .Default([&](Operation *) {
          if (followsLikely)
            visitLikelyUse(use);
        });
  }

  void visitLikelyUse(OpOperand &use) {
    const unsigned number = use.getOperandNumber();
    llvm::TypeSwitch<Operation *>(use.getOwner())
        .Case<arith::SelectOp, WhereOp>([&](auto op) {
          if (number > 0)
            visit(op->getResult(0));
        })
        .Case([&](arith::ExtUIOp op) { visit(op.getResult()); })
        .Case([&](scf::ForOp op) {
          if (BlockArgument argument = op.getTiedLoopRegionIterArg(&use)) {
            visit(argument);
            visit(op.getTiedLoopResult(&use));
          }
        })
        .Case([&](scf::YieldOp op) {
          if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
            visit(loop.getRegionIterArg(number));
            visit(loop.getResult(number));
          }
        });
  }

  bool followsLikely;
  DenseSet<Value> visited;
};
} // namespace

std::optional<IntSet> ds::findAllowedInts(Value value, IntUses uses) {
  UseVisitor visitor(uses);
  visitor.visit(value);
  return std::move(visitor.allowed);
}
