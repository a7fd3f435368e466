// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Layouts flow forward through a function; see the pass's description for the policy.
//
// Steps for each op, in program order:
//   1. collect votes: what the layouts of its operands say about the op's indices;
//   2. decide the split of each index: the largest tensor's vote wins;
//   3. decide which operands stay partial;
//   4. note the layout in which the op takes each operand, and those of its results.
// Lazy values (LazyValues.h) have no layout of their own: they follow their users.

#include "SolveLayouts.h"

#include "LayoutHints.h"
#include "LayoutVotes.h"
#include "LazyValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ds;

namespace {

using Partials = std::map<std::string, ReduceKind>;

class LayoutSolver {
public:
  LayoutSolver(func::FuncOp function, const Mesh &mesh) : function(function), mesh(mesh) {}

  FailureOr<LayoutAssignment> run();

private:
  // Values.
  bool isUndecided(Value value) const { return undecided.contains(value); }
  bool followsUsers(Value value) const { return isLazy(value) || isUndecided(value); }
  bool isLaidOut(Value value) const;
  Layout layoutBefore(Value value, Operation *user) const;
  void take(Value value, const Layout &wanted, Operation *user);
  void takeOperand(Operation *op, unsigned number, const Layout &wanted);

  // Ops.
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  void visitReturn(func::ReturnOp op);
  void visitWhole(Operation *op);
  void visitRuled(Operation *op, const LayoutRule &rule);
  void visitFlat(Operation *op, const Layout &flat);
  void visitFullReduction(ReduceOp op);

  // Steps of visitRuled.
  SmallVector<Vote> collectVotes(Operation *op, const LayoutRule &rule);
  SmallVector<Partials> decidePartials(Operation *op, const LayoutRule &rule, const IndexSplits &splits);
  Partials passingPartial(Operation *op, Value operand, const LayoutRule &rule, const IndexSplits &splits);
  SmallVector<Partials> decideScaled(Operation *op);
  SmallVector<Partials> decideAdditive(Operation *op, const LayoutRule &rule, const IndexSplits &splits);
  void note(Operation *op, const LayoutRule &rule, const IndexSplits &splits, ArrayRef<Partials> partials);

  func::FuncOp function;
  const Mesh &mesh;
  SymbolTableCollection symbols;
  LayoutAssignment assignment;
  /// Loop-carried values that begin as lazy ones: their first user decides.
  DenseSet<Value> undecided;
  /// The other layouts in which users of a block have taken a value, the first first.
  DenseMap<std::pair<Block *, Value>, SmallVector<Layout>> taken;
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

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether `value`, or what a broadcast repeats, has another layout than the whole on every rank.
bool LayoutSolver::isLaidOut(Value value) const {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  const Layout *layout = assignment.find(broadcast ? broadcast.getInput() : value);
  return layout && !layout->isReplicated();
}

/// The layout in which `user` takes `value` best: if it was reduced already for an earlier user, that result serves.
Layout LayoutSolver::layoutBefore(Value value, Operation *user) const {
  Layout layout = assignment.of(value);
  auto others = taken.find({user->getBlock(), value});
  if (layout.partial.empty() || others == taken.end())
    return layout;
  auto whole = llvm::find_if(others->second, [](const Layout &other) { return other.partial.empty(); });
  return whole == others->second.end() ? layout : *whole;
}

/// Notes that `user` takes `value` as `wanted`.
void LayoutSolver::take(Value value, const Layout &wanted, Operation *user) {
  if (undecided.erase(value))
    return assignment.assign(value, wanted);
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return take(broadcast.getInput(), inputLayoutOf(broadcast, makeableLayout(value, wanted)), user);
  if (isLazy(value))
    return;
  const Layout layout = normalized(wanted, shapeOf(value.getType()));
  if (layout != assignment.of(value))
    taken[{user->getBlock(), value}].push_back(layout);
}

void LayoutSolver::takeOperand(Operation *op, unsigned number, const Layout &wanted) {
  OpOperand &operand = op->getOpOperand(number);
  if (!isa<RankedTensorType>(operand.get().getType()))
    return;
  take(operand.get(), wanted, op);
  assignment.want(operand, wanted);
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

SmallVector<Vote> LayoutSolver::collectVotes(Operation *op, const LayoutRule &rule) {
  SmallVector<Vote> votes;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || isUndecided(operand) || isSplat(operand) || operand.getDefiningOp<IotaOp>())
      continue;
    Layout layout = layoutBefore(operand, op);
    int64_t weight = type.getNumElements();
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>()) {
      // A lazy broadcast speaks for the dims of its input alone.
      layout = Layout::replicated(type.getRank());
      const Layout input = assignment.of(broadcast.getInput());
      for (auto [dim, place] : llvm::enumerate(broadcast.getDims()))
        layout.dims[place] = input.dims[dim];
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
Partials LayoutSolver::passingPartial(Operation *op, Value operand, const LayoutRule &rule, const IndexSplits &splits) {
  Partials partial = layoutBefore(operand, op).partial;
  for (const DimLayout &split : splits)
    for (const std::string &axis : axesOf(split))
      partial.erase(axis);
  for (auto it = partial.begin(); it != partial.end();)
    it = llvm::is_contained(rule.passes, it->second) ? std::next(it) : partial.erase(it);
  return partial;
}

/// A partial value times or divided by a scalar stays partial; the op becomes ds.scale or ds.divide.
SmallVector<Partials> LayoutSolver::decideScaled(Operation *op) {
  SmallVector<Partials> kept(op->getNumOperands());
  for (unsigned number : {0u, 1u}) {
    bool isFactor = number == 0 || isa<arith::MulFOp>(op);
    Value operand = op->getOperand(number), other = op->getOperand(1 - number);
    if (!isFactor || followsUsers(operand) || !isScalarLike(other) || !assignment.of(other).partial.empty())
      continue;
    Partials partial = layoutBefore(operand, op).partial;
    if (llvm::all_of(partial, [](auto &entry) { return entry.second == ReduceKind::Sum; }))
      kept[number] = partial;
    if (!kept[number].empty())
      break;
  }
  return kept;
}

/// All linear operands alike. Undecided and zero operands follow the others; scalars become partial rather than be
/// reduced.
SmallVector<Partials> LayoutSolver::decideAdditive(Operation *op, const LayoutRule &rule, const IndexSplits &splits) {
  std::optional<Partials> common;
  bool isScalar = cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0;
  for (Value operand : op->getOperands()) {
    if (isUndecided(operand) || isZero(operand))
      continue;
    Partials partial = followsUsers(operand) ? Partials() : passingPartial(op, operand, rule, splits);
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
SmallVector<Partials> LayoutSolver::decidePartials(Operation *op, const LayoutRule &rule, const IndexSplits &splits) {
  SmallVector<Partials> kept(op->getNumOperands());
  if (rule.partial == PartialRule::Multilinear && movesElements(op)) {
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (rule.linear[number] && !followsUsers(operand))
        kept[number] = passingPartial(op, operand, rule, splits);
    return kept;
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return decideScaled(op);
  return rule.partial == PartialRule::Additive ? decideAdditive(op, rule, splits) : kept;
}

void LayoutSolver::note(Operation *op, const LayoutRule &rule, const IndexSplits &splits, ArrayRef<Partials> partials) {
  Partials resultPartial = foldedAxes(rule, splits);
  for (unsigned number = 0; number < op->getNumOperands(); ++number) {
    Layout wanted;
    wanted.dims = dimsOfValue(rule.operands[number], rule, splits, shapeOf(op->getOperand(number).getType()));
    wanted.partial = partials[number];
    resultPartial.insert(wanted.partial.begin(), wanted.partial.end());
    takeOperand(op, number, wanted);
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    Layout layout;
    layout.dims = dimsOfValue(rule.results[number], rule, splits, shapeOf(result.getType()));
    layout.partial = resultPartial;
    assignment.assign(result, layout);
  }
}

/// An op whose operands are whole on every rank: so are its results, by any rule.
void LayoutSolver::visitWhole(Operation *op) {
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (followsUsers(operand))
      takeOperand(op, number, Layout::replicated(cast<RankedTensorType>(operand.getType()).getRank()));
}

void LayoutSolver::visitRuled(Operation *op, const LayoutRule &rule) {
  for (Value operand : op->getOperands()) {
    const Layout layout = assignment.of(operand);
    if (layout.flat.empty())
      continue;
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getType().getRank() == 0)
      return visitFullReduction(reduce);
    if (rule.allowsFlat)
      return visitFlat(op, layout);
  }
  const IndexSplits splits = decideSplits(rule, collectVotes(op, rule));
  note(op, rule, splits, decidePartials(op, rule, splits));
}

/// An elementwise op one of whose operands is flat: all of them are.
void LayoutSolver::visitFlat(Operation *op, const Layout &flat) {
  Layout wanted = flat;
  wanted.partial.clear();
  auto layoutFor = [&](Value value) { return shapeOf(value.getType()).empty() ? Layout() : wanted; };
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    takeOperand(op, number, layoutFor(op->getOperand(number)));
  for (Value result : op->getResults())
    assignment.assign(result, layoutFor(result));
}

/// The sum of all elements of a flat value is partial over its axes.
void LayoutSolver::visitFullReduction(ReduceOp op) {
  Layout input = assignment.of(op.getInput()), result;
  input.partial.clear();
  takeOperand(op, 0, input);
  for (const AxisList &axes : {input.dimAxes(), input.flat})
    for (const std::string &axis : axes)
      result.partial[axis] = static_cast<ReduceKind>(op.getKind());
  assignment.assign(op.getResult(), result);
}

/// Outputs keep the split of their dims; whoever collects them knows the layout.
void LayoutSolver::visitReturn(func::ReturnOp op) {
  for (auto [number, output] : llvm::enumerate(op.getOperands())) {
    Layout wanted = Layout::replicated(shapeOf(output.getType()).size());
    if (!followsUsers(output))
      wanted.dims = assignment.of(output).dims;
    takeOperand(op, number, wanted);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult LayoutSolver::visitLoop(scf::ForOp loop) {
  for (auto [init, argument] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (followsUsers(init))
      undecided.insert(argument);
    else if (const Layout *layout = assignment.find(init))
      assignment.assign(argument, Layout(*layout));
  if (failed(visitBlock(*loop.getBody())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    const Layout layout = assignment.of(undecided.erase(argument) ? yield->getOperand(number) : argument);
    assignment.assign(argument, layout);
    assignment.assign(loop.getResult(number), layout);
    takeOperand(yield, number, layout);
    takeOperand(loop, loop.getNumControlOperands() + number, layout);
  }
  return success();
}

LogicalResult LayoutSolver::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    takeOperand(op, 0, constrain.getLayout().getLayout());
    assignment.assign(constrain.getResult(), constrain.getLayout().getLayout());
    return success();
  }
  if (auto read = dyn_cast<ReadOp>(op)) {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, read.getVariableAttr());
    assignment.assign(read.getResult(), layoutOf(variable));
    return success();
  }
  if (auto assign = dyn_cast<AssignOp>(op)) {
    takeOperand(op, 0, layoutOf(symbols.lookupNearestSymbolFrom<VariableOp>(op, assign.getVariableAttr())));
    return success();
  }
  if (auto output = dyn_cast<func::ReturnOp>(op)) {
    visitReturn(output);
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>() || llvm::all_of(op->getResults(), isLazy) ||
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return success();
  if (!isa<LayoutRuleOpInterface>(op))
    return op->emitOpError("has no layout rule");
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return isLaidOut(operand); }))
    visitWhole(op);
  else
    visitRuled(op, *findLayoutRule(op));
  return success();
}

LogicalResult LayoutSolver::visitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

FailureOr<LayoutAssignment> LayoutSolver::run() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    if (auto layout = function.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(), kLayoutAttr))
      assignment.assign(argument, layout.getLayout());
  if (failed(visitBlock(block)))
    return failure();
  return std::move(assignment);
}

FailureOr<LayoutAssignment> ds::solveLayouts(func::FuncOp function, const Mesh &mesh) {
  return LayoutSolver(function, mesh).run();
}
