// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ApplyLayouts.h"

#include "LazyValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ds;

namespace {

/// Values in the layouts in which their users want them, each made at most once per block.
class LaidOutValues {
public:
  /// `value` laid out as `wanted`, for `user`.
  Value obtain(Value value, const Layout &wanted, Operation *user) {
    auto type = cast<RankedTensorType>(value.getType());
    RankedTensorType wantedType = withLayout(type, wanted);
    if (!isLazy(value) && wantedType == type)
      return value;
    SmallVector<Value> &known = made[{user->getBlock(), value}];
    auto found = llvm::find_if(known, [&](Value other) { return other.getType() == wantedType; });
    if (found != known.end())
      return *found;
    Value result = isLazy(value) ? makeAnew(value, wanted, user) : relayout(value, wantedType, user);
    made[{user->getBlock(), value}].push_back(result); // not `known`: other values may have been added meanwhile
    return result;
  }

private:
  static Value relayout(Value value, RankedTensorType wantedType, Operation *user) {
    OpBuilder builder(user);
    return RelayoutOp::create(builder, value.getLoc(), wantedType, value);
  }

  Value makeAnew(Value value, const Layout &wanted, Operation *user) {
    RankedTensorType type = withLayout(cast<RankedTensorType>(value.getType()), wanted);
    const Layout layout = makeableLayout(value, wanted);
    if (withLayout(type, layout) != type)
      return relayout(obtain(value, layout, user), type, user);
    OpBuilder builder(user);
    if (auto iota = value.getDefiningOp<IotaOp>())
      return IotaOp::create(builder, value.getLoc(), type, iota.getDim());
    if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
      Value input = obtain(broadcast.getInput(), inputLayoutOf(broadcast, layout), user);
      return BroadcastOp::create(builder, value.getLoc(), type, input, broadcast.getDims());
    }
    auto splat = cast<SplatElementsAttr>(value.getDefiningOp<arith::ConstantOp>().getValue());
    return arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(type));
  }

  DenseMap<std::pair<Block *, Value>, SmallVector<Value>> made;
};

class LayoutApplier {
public:
  explicit LayoutApplier(const LayoutAssignment &assignment) : assignment(assignment) {}

  void visitBlock(Block &block) {
    for (BlockArgument argument : block.getArguments())
      setType(argument);
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
  }

private:
  void visit(Operation *op);
  void setType(Value value) {
    if (const Layout *layout = assignment.find(value))
      value.setType(withLayout(cast<RankedTensorType>(value.getType()), *layout));
  }

  const LayoutAssignment &assignment;
  LaidOutValues values;
};

} // namespace

/// Replaces mulf or divf of a partial value by ds.scale or ds.divide.
static void spellPartialByWhole(Operation *op) {
  bool leftPartial = !layoutOf(op->getOperand(0)).partial.empty(),
       rightPartial = !layoutOf(op->getOperand(1)).partial.empty();
  if (!leftPartial && !rightPartial)
    return;
  OpBuilder builder(op);
  Value partial = op->getOperand(leftPartial ? 0 : 1), whole = op->getOperand(leftPartial ? 1 : 0);
  Type type = op->getResult(0).getType();
  Value made = isa<arith::MulFOp>(op) ? Value(ScaleOp::create(builder, op->getLoc(), type, partial, whole))
                                      : Value(DivideOp::create(builder, op->getLoc(), type, partial, whole));
  op->getResult(0).replaceAllUsesWith(made);
  op->erase();
}

void LayoutApplier::visit(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (const Layout *wanted = assignment.findWanted(operand))
      operand.set(values.obtain(operand.get(), *wanted, op));
  for (Value result : op->getResults())
    setType(result);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visitBlock(block);
  if (auto constrain = dyn_cast<ConstrainOp>(op)) { // its operand is as it asks for
    constrain.getResult().replaceAllUsesWith(constrain.getInput());
    op->erase();
  } else if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    spellPartialByWhole(op);
  }
}

static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDeadOps(inner);
    if (isOpTriviallyDead(&op))
      op.erase();
  }
}

void ds::applyLayouts(func::FuncOp function, const LayoutAssignment &assignment) {
  Block &block = function.getBody().front();
  LayoutApplier(assignment).visitBlock(block);
  for (BlockArgument argument : block.getArguments())
    function.removeArgAttr(argument.getArgNumber(), kLayoutAttr);
  eraseDeadOps(block); // lazy values of which only copies are used
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
}
