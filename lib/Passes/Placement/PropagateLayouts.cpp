// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Layouts flow forward through a function; see the pass's description for the policy.
//
// Steps for each op, in program order:
//   1. collect votes: what the layouts of its operands say about the op's indices;
//   2. decide the split of each index: the largest tensor's vote wins;
//   3. decide which operands stay partial;
//   4. obtain each operand in the layout that follows (a ds.relayout where it differs), and set the result types.
// Constants, broadcasts and iotas are lazy: they are made anew in the layout in which a user wants them.

#include "LaidOutValues.h"
#include "LayoutHints.h"
#include "LayoutVotes.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

using Partials = std::map<std::string, ReduceKind>;

class LayoutPropagator {
public:
  LayoutPropagator(func::FuncOp function, const Mesh &mesh) : function(function), mesh(mesh) {}

  LogicalResult run();

private:
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  void visitWhole(Operation *op);
  LogicalResult visitRuled(Operation *op, const LayoutRule &rule);
  void visitFlat(Operation *op, const Layout &flat);
  void visitFullReduction(ReduceOp op);
  void visitConstrain(ConstrainOp op);

  // Steps of visitRuled.
  SmallVector<Vote> collectVotes(Operation *op, const LayoutRule &rule);
  SmallVector<Partials> decidePartials(Operation *op, const LayoutRule &rule, const IndexSplits &splits);
  Partials passingPartial(Operation *op, Value operand, const LayoutRule &rule, const IndexSplits &splits);
  SmallVector<Partials> decideScaled(Operation *op);
  SmallVector<Partials> decideAdditive(Operation *op, const LayoutRule &rule, const IndexSplits &splits);
  void applyDecision(Operation *op, const LayoutRule &rule, const IndexSplits &splits, ArrayRef<Partials> partials);

  func::FuncOp function;
  const Mesh &mesh;
  LaidOutValues values;
  SymbolTableCollection symbols;
};

/// A scalar, or a scalar repeated: multiplying by it commutes with any sum at no cost.
bool isScalarLike(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0 || isSplat(value))
    return true;
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast && broadcast.getInput().getType().getRank() == 0;
}

/// Ops that only move elements or fold them: a partial operand may pass without cost.
bool movesElements(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, PadOp, ConcatOp, ReduceOp, TakePartOp, BroadcastOp, ScatterAddRowsOp,
             arith::NegFOp>(op);
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

SmallVector<Vote> LayoutPropagator::collectVotes(Operation *op, const LayoutRule &rule) {
  SmallVector<Vote> votes;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || values.isUndecided(operand) || isSplat(operand) || operand.getDefiningOp<IotaOp>())
      continue;
    Layout layout = values.layoutBefore(operand, op);
    int64_t weight = type.getNumElements();
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>()) {
      // A lazy broadcast speaks for the dims of its input alone.
      layout = Layout::replicated(type.getRank());
      if (!values.isLazy(broadcast.getInput()))
        for (auto [dim, place] : llvm::enumerate(broadcast.getDims()))
          layout.dims[place] = layoutOf(broadcast.getInput()).dims[dim];
      weight = 0;
    }
    for (auto [dim, indices] : llvm::enumerate(rule.operands[number])) {
      if (axesOf(layout.dims[dim]).empty())
        continue; // has nothing to say
      Layout one;
      one.dims = {layout.dims[dim]};
      auto splits = splitsOfValue(one, {indices}, rule, {type.getDimSize(dim)}, mesh);
      if (!splits)
        continue;
      for (auto [place, index] : llvm::enumerate(indices))
        votes.push_back({index, (*splits)[0][place], weight});
    }
  }
  return votes;
}

/// The axes over which `operand` may stay partial: those that no index is split over, of folds that the op passes.
Partials LayoutPropagator::passingPartial(Operation *op, Value operand, const LayoutRule &rule,
                                          const IndexSplits &splits) {
  Partials partial = values.layoutBefore(operand, op).partial;
  for (const DimLayout &split : splits)
    for (const std::string &axis : axesOf(split))
      partial.erase(axis);
  for (auto it = partial.begin(); it != partial.end();)
    it = llvm::is_contained(rule.passes, it->second) ? std::next(it) : partial.erase(it);
  return partial;
}

/// A partial value times or divided by a scalar stays partial; the op becomes ds.scale or ds.divide.
SmallVector<Partials> LayoutPropagator::decideScaled(Operation *op) {
  SmallVector<Partials> kept(op->getNumOperands());
  for (unsigned number : {0u, 1u}) {
    bool isFactor = number == 0 || isa<arith::MulFOp>(op);
    Value operand = op->getOperand(number), other = op->getOperand(1 - number);
    if (!isFactor || values.isLazy(operand) || !isScalarLike(other) || !layoutOf(other).partial.empty())
      continue;
    Partials partial = values.layoutBefore(operand, op).partial;
    if (llvm::all_of(partial, [](auto &entry) { return entry.second == ReduceKind::Sum; }))
      kept[number] = partial;
    if (!kept[number].empty())
      break;
  }
  return kept;
}

/// All linear operands alike. Undecided and zero operands follow the others; scalars become partial rather than be
/// reduced.
SmallVector<Partials> LayoutPropagator::decideAdditive(Operation *op, const LayoutRule &rule,
                                                       const IndexSplits &splits) {
  std::optional<Partials> common;
  bool isScalar = cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0;
  for (Value operand : op->getOperands()) {
    if (values.isUndecided(operand) || isZero(operand))
      continue;
    Partials partial = values.isLazy(operand) ? Partials() : passingPartial(op, operand, rule, splits);
    if (!common)
      common = partial;
    else if (isScalar)
      common->insert(partial.begin(), partial.end());
    else if (*common != partial)
      common = Partials();
  }
  SmallVector<Partials> kept(op->getNumOperands());
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    if (rule.linear[number] && common)
      kept[number] = *common;
  return kept;
}

/// Which axes each operand stays partial over.
SmallVector<Partials> LayoutPropagator::decidePartials(Operation *op, const LayoutRule &rule,
                                                       const IndexSplits &splits) {
  SmallVector<Partials> kept(op->getNumOperands());
  if (rule.partial == PartialRule::Multilinear && movesElements(op)) {
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (rule.linear[number] && !values.isLazy(operand))
        kept[number] = passingPartial(op, operand, rule, splits);
    return kept;
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return decideScaled(op);
  return rule.partial == PartialRule::Additive ? decideAdditive(op, rule, splits) : kept;
}

void LayoutPropagator::applyDecision(Operation *op, const LayoutRule &rule, const IndexSplits &splits,
                                     ArrayRef<Partials> partials) {
  Partials resultPartial = foldedAxes(rule, splits);
  for (unsigned number = 0; number < op->getNumOperands(); ++number) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(number).getType());
    if (!type)
      continue;
    Layout wanted;
    wanted.dims = dimsOfValue(rule.operands[number], rule, splits, shapeOf(type));
    wanted.partial = partials[number];
    resultPartial.insert(wanted.partial.begin(), wanted.partial.end());
    values.obtainOperand(op, number, wanted);
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    Layout layout;
    layout.dims = dimsOfValue(rule.results[number], rule, splits, shapeOf(type));
    layout.partial = resultPartial;
    result.setType(withLayout(type, layout));
  }
}

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

/// An op whose operands are whole on every rank: so are its results, by any rule.
void LayoutPropagator::visitWhole(Operation *op) {
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (values.isLazy(operand))
      values.obtainOperand(op, number, Layout::replicated(cast<RankedTensorType>(operand.getType()).getRank()));
}

LogicalResult LayoutPropagator::visitRuled(Operation *op, const LayoutRule &rule) {
  for (Value operand : op->getOperands()) {
    Layout layout = layoutOf(operand);
    if (values.isLazy(operand) || layout.flat.empty())
      continue;
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getType().getRank() == 0) {
      visitFullReduction(reduce);
      return success();
    }
    if (rule.allowsFlat) {
      visitFlat(op, layout);
      return success();
    }
  }
  IndexSplits splits = decideSplits(rule, collectVotes(op, rule));
  applyDecision(op, rule, splits, decidePartials(op, rule, splits));
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    spellPartialByWhole(op);
  return success();
}

/// An elementwise op one of whose operands is flat: all of them are.
void LayoutPropagator::visitFlat(Operation *op, const Layout &flat) {
  Layout wanted = flat;
  wanted.partial.clear();
  auto layoutFor = [&](RankedTensorType type) { return type.getRank() ? wanted : Layout(); };
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    if (auto type = dyn_cast<RankedTensorType>(op->getOperand(number).getType()))
      values.obtainOperand(op, number, layoutFor(type));
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(withLayout(type, layoutFor(type)));
  }
}

/// The sum of all elements of a flat value is partial over its axes.
void LayoutPropagator::visitFullReduction(ReduceOp op) {
  Layout input = layoutOf(op.getInput()), result;
  input.partial.clear();
  values.obtainOperand(op, 0, input);
  for (const AxisList &axes : {input.dimAxes(), input.flat})
    for (const std::string &axis : axes)
      result.partial[axis] = static_cast<ReduceKind>(op.getKind());
  op.getResult().setType(withLayout(op.getType(), result));
}

void LayoutPropagator::visitConstrain(ConstrainOp op) {
  Layout wanted = op.getLayout().getLayout();
  op.getResult().replaceAllUsesWith(values.obtain(op.getInput(), wanted, op));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult LayoutPropagator::visitLoop(scf::ForOp loop) {
  for (auto [init, arg] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (values.isLazy(init))
      values.leaveUndecided(arg);
    else
      arg.setType(init.getType());
  }
  if (failed(visitBlock(*loop.getBody())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value yielded = yield->getOperand(number);
    Layout layout = values.isUndecided(arg) ? layoutOf(yielded) : layoutOf(arg);
    values.settle(arg);
    if (auto type = dyn_cast<RankedTensorType>(arg.getType()))
      arg.setType(withLayout(type, layout));
    yield->setOperand(number, values.obtain(yielded, layout, yield));
    loop.getInitArgsMutable()[number].set(values.obtain(loop.getInitArgs()[number], layout, loop));
    loop.getResult(number).setType(arg.getType());
  }
  return success();
}

LogicalResult LayoutPropagator::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    return visitConstrain(constrain), success();
  if (auto read = dyn_cast<ReadOp>(op)) {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, read.getVariableAttr());
    read.getResult().setType(variable.getTensorType());
    return success();
  }
  if (auto assign = dyn_cast<AssignOp>(op)) {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, assign.getVariableAttr());
    values.obtainOperand(op, 0, layoutOf(variable.getTensorType()));
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    for (unsigned number = 0; number < op->getNumOperands(); ++number) {
      Layout wanted = Layout::replicated(shapeOf(op->getOperand(number).getType()).size());
      // Outputs keep the split of their dims; whoever collects them knows the layout.
      wanted.dims = values.isLazy(op->getOperand(number)) ? wanted.dims : layoutOf(op->getOperand(number)).dims;
      values.obtainOperand(op, number, wanted);
    }
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>() || (op->getNumResults() == 1 && values.isLazy(op->getResult(0))))
    return success();
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return success();
  if (!isa<LayoutRuleOpInterface>(op))
    return op->emitOpError("has no layout rule");
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return values.isLaidOut(operand); })) {
    visitWhole(op);
    return success();
  }
  return visitRuled(op, *findLayoutRule(op));
}

LogicalResult LayoutPropagator::visitBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(visit(&op)))
      return failure();
  return success();
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

LogicalResult LayoutPropagator::run() {
  Block &block = function.getBody().front();
  for (BlockArgument arg : block.getArguments())
    if (auto layout = function.getArgAttrOfType<LayoutAttr>(arg.getArgNumber(), kLayoutAttr)) {
      arg.setType(withLayout(cast<RankedTensorType>(arg.getType()), layout.getLayout()));
      function.removeArgAttr(arg.getArgNumber(), kLayoutAttr);
    }
  if (failed(visitBlock(block)))
    return failure();
  eraseDeadOps(block);
  function.setFunctionType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return success();
}

struct PropagateLayouts : ds::impl::PropagateLayoutsPassBase<PropagateLayouts> {
  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    if (failed(verifyHints(getOperation(), mesh)))
      return signalPassFailure();
    for (VariableOp variable : getOperation().getOps<VariableOp>())
      if (std::optional<LayoutAttr> layout = variable.getLayout()) {
        variable.setType(withLayout(variable.getTensorType(), layout->getLayout()));
        variable.removeLayoutAttr();
      }
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(LayoutPropagator(function, mesh).run()))
        return signalPassFailure();
  }
};

} // namespace
