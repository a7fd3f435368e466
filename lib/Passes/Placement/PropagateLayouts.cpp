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

#include "LayoutHints.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace ds {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// What one operand says about one index.
struct Vote {
  unsigned index;
  DimLayout split;
  int64_t weight; ///< elements of the operand; 0 for lazy ones
};

using Partials = std::map<std::string, ReduceKind>;

class LayoutPropagator {
public:
  LayoutPropagator(func::FuncOp function, const Mesh &mesh) : function(function), mesh(mesh) {}

  LogicalResult run();

private:
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult visitRuled(Operation *op, const LayoutRule &rule);
  void visitFlat(Operation *op, const Layout &flat);
  void visitFullReduction(ReduceOp op);
  void visitConstrain(ConstrainOp op);

  // Steps of visitRuled.
  SmallVector<Vote> collectVotes(Operation *op, const LayoutRule &rule);
  IndexSplits decideSplits(const LayoutRule &rule, SmallVector<Vote> votes);
  SmallVector<Partials> decidePartials(Operation *op, const LayoutRule &rule, const IndexSplits &splits);
  void applyDecision(Operation *op, const LayoutRule &rule, const IndexSplits &splits, ArrayRef<Partials> partials);

  // Values.
  bool isLazy(Value value) const;
  Value obtain(Value value, const Layout &wanted, Operation *user);
  Value materialize(Value value, const Layout &wanted, Operation *user);
  Layout layoutBefore(Value value, Operation *user);
  void obtainOperand(Operation *op, unsigned number, const Layout &wanted) {
    op->setOperand(number, obtain(op->getOperand(number), wanted, op));
  }

  func::FuncOp function;
  const Mesh &mesh;
  /// Loop-carried values whose layout the first user decides.
  DenseSet<Value> undecided;
  /// Relayouts made so far, by block and source.
  DenseMap<std::pair<Block *, Value>, SmallVector<Value>> relayouts;
};

bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

bool isSplat(Value value) {
  return matchPattern(value, m_Constant()) &&
         isa<SplatElementsAttr>(value.getDefiningOp<arith::ConstantOp>().getValue());
}

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

bool LayoutPropagator::isLazy(Value value) const {
  return isSplat(value) || isa_and_nonnull<BroadcastOp, IotaOp>(value.getDefiningOp()) || undecided.contains(value);
}

//===----------------------------------------------------------------------===//
// Values in a wanted layout
//===----------------------------------------------------------------------===//

/// The layout in which `value` is best taken: if it was reduced already for an earlier user, that result serves.
Layout LayoutPropagator::layoutBefore(Value value, Operation *user) {
  Layout layout = layoutOf(value);
  if (layout.partial.empty())
    return layout;
  auto found = relayouts.find({user->getBlock(), value});
  if (found != relayouts.end())
    for (Value other : found->second)
      if (layoutOf(other).partial.empty())
        return layoutOf(other);
  return layout;
}

Value LayoutPropagator::obtain(Value value, const Layout &wanted, Operation *user) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  if (isLazy(value))
    return materialize(value, wanted, user);
  RankedTensorType wantedType = withLayout(type, wanted);
  if (wantedType == type)
    return value;
  SmallVector<Value> &made = relayouts[{user->getBlock(), value}];
  for (Value other : made)
    if (other.getType() == wantedType)
      return other;
  OpBuilder builder(user);
  made.push_back(RelayoutOp::create(builder, value.getLoc(), wantedType, value));
  return made.back();
}

/// Makes a lazy value in the layout `wanted`.
Value LayoutPropagator::materialize(Value value, const Layout &wanted, Operation *user) {
  RankedTensorType wantedType = withLayout(cast<RankedTensorType>(value.getType()), wanted);
  if (undecided.erase(value)) {
    value.setType(wantedType);
    return value;
  }
  OpBuilder builder(user);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    bool keepsPartial = wanted.partial.empty() || isZero(value);
    Layout layout = wanted;
    if (!keepsPartial)
      layout.partial.clear();
    RankedTensorType type = withLayout(wantedType, layout);
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    Value made = arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(type));
    return keepsPartial ? made : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, made));
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  bool repeatsScalar = broadcast && broadcast.getInput().getType().getRank() == 0;
  if ((!wanted.flat.empty() && !repeatsScalar) || wanted.memory != MemoryTier::Device) {
    Layout plain = Layout::replicated(wantedType.getRank());
    plain.dims = wanted.dims;
    Value made = materialize(value, plain, user);
    return made.getType() == wantedType ? made : Value(RelayoutOp::create(builder, value.getLoc(), wantedType, made));
  }
  if (auto iota = value.getDefiningOp<IotaOp>())
    return IotaOp::create(builder, value.getLoc(), wantedType, iota.getDim());
  Layout inputLayout = Layout::replicated(0);
  for (int64_t dim : broadcast.getDims())
    inputLayout.dims.push_back(wanted.dims[dim]);
  inputLayout.partial = wanted.partial;
  Value input = obtain(broadcast.getInput(), inputLayout, user);
  return BroadcastOp::create(builder, value.getLoc(), wantedType, input, broadcast.getDims());
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

SmallVector<Vote> LayoutPropagator::collectVotes(Operation *op, const LayoutRule &rule) {
  SmallVector<Vote> votes;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || undecided.contains(operand) || isSplat(operand) || operand.getDefiningOp<IotaOp>())
      continue;
    Layout layout = layoutBefore(operand, op);
    int64_t weight = type.getNumElements();
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>()) {
      // A lazy broadcast speaks for the dims of its input alone.
      layout = Layout::replicated(type.getRank());
      if (!isLazy(broadcast.getInput()))
        for (auto [dim, place] : llvm::enumerate(broadcast.getDims()))
          layout.dims[place] = layoutOf(broadcast.getInput()).dims[dim];
      weight = 0;
    }
    for (auto [dim, indices] : llvm::enumerate(rule.operands[number])) {
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

static AxisList axesOf(const DimLayout &split) {
  AxisList axes;
  for (const Factor &factor : split)
    axes.insert(axes.end(), factor.axes.begin(), factor.axes.end());
  return axes;
}

IndexSplits LayoutPropagator::decideSplits(const LayoutRule &rule, SmallVector<Vote> votes) {
  llvm::stable_sort(votes, [](const Vote &a, const Vote &b) { return a.weight > b.weight; });
  IndexSplits splits(rule.indices.size(), DimLayout(1));
  SmallVector<bool> isSplit(rule.indices.size(), false);
  std::set<std::string> used;
  for (const Vote &vote : votes) {
    AxisList axes = axesOf(vote.split);
    if (axes.empty() || isSplit[vote.index] || rule.indices[vote.index].kind == IndexKind::Whole)
      continue;
    if (llvm::any_of(axes, [&](const std::string &axis) { return used.count(axis); }))
      continue;
    isSplit[vote.index] = true;
    splits[vote.index] = vote.split;
    used.insert(axes.begin(), axes.end());
  }
  return splits;
}

/// Which axes each operand stays partial over.
SmallVector<Partials> LayoutPropagator::decidePartials(Operation *op, const LayoutRule &rule,
                                                       const IndexSplits &splits) {
  SmallVector<Partials> kept(op->getNumOperands());
  std::set<std::string> onIndex;
  for (const DimLayout &split : splits)
    for (const std::string &axis : axesOf(split))
      onIndex.insert(axis);
  auto mayPass = [&](Value operand) {
    Partials partial = layoutBefore(operand, op).partial;
    for (auto it = partial.begin(); it != partial.end();)
      it = onIndex.count(it->first) || !llvm::is_contained(rule.passes, it->second) ? partial.erase(it) : std::next(it);
    return partial;
  };

  if (rule.partial == PartialRule::Multilinear && movesElements(op)) {
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (rule.linear[number] && !isLazy(operand))
        kept[number] = mayPass(operand);
    return kept;
  }
  // A partial value times or divided by a scalar stays partial; the op becomes ds.scale or ds.divide.
  if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    for (unsigned number : {0u, 1u}) {
      bool isFactor = number == 0 || isa<arith::MulFOp>(op);
      Value operand = op->getOperand(number), other = op->getOperand(1 - number);
      if (!isFactor || isLazy(operand) || !isScalarLike(other) || !layoutOf(other).partial.empty())
        continue;
      Partials partial = layoutBefore(operand, op).partial;
      if (llvm::all_of(partial, [](auto &entry) { return entry.second == ReduceKind::Sum; }))
        kept[number] = partial;
      if (!kept[number].empty())
        return kept;
    }
    return kept;
  }
  if (rule.partial != PartialRule::Additive)
    return kept;
  // Additive: all alike. Undecided and zero operands follow the others; scalars become partial rather than be reduced.
  std::optional<Partials> common;
  bool isScalar = cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0;
  for (Value operand : op->getOperands()) {
    if (undecided.contains(operand) || isZero(operand))
      continue;
    Partials partial = isLazy(operand) ? Partials() : mayPass(operand);
    if (!common)
      common = partial;
    else if (isScalar)
      common->insert(partial.begin(), partial.end());
    else if (*common != partial)
      common = Partials();
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (rule.linear[number] && common)
      kept[number] = *common;
  return kept;
}

static ReduceKind foldOf(IndexKind kind) {
  return kind == IndexKind::Sum ? ReduceKind::Sum : kind == IndexKind::Max ? ReduceKind::Max : ReduceKind::Min;
}

void LayoutPropagator::applyDecision(Operation *op, const LayoutRule &rule, const IndexSplits &splits,
                                     ArrayRef<Partials> partials) {
  Partials resultPartial;
  for (auto [index, split] : llvm::zip_equal(rule.indices, splits))
    if (index.kind != IndexKind::Parallel && index.kind != IndexKind::Whole)
      for (const std::string &axis : axesOf(split))
        resultPartial[axis] = foldOf(index.kind);
  for (unsigned number = 0; number < op->getNumOperands(); ++number) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(number).getType());
    if (!type)
      continue;
    Layout wanted = Layout::replicated(type.getRank());
    wanted.dims = dimsOfValue(rule.operands[number], rule, splits, shapeOf(type));
    wanted.partial = partials[number];
    resultPartial.insert(wanted.partial.begin(), wanted.partial.end());
    obtainOperand(op, number, wanted);
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    Layout layout = Layout::replicated(type.getRank());
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

LogicalResult LayoutPropagator::visitRuled(Operation *op, const LayoutRule &rule) {
  for (Value operand : op->getOperands()) {
    Layout layout = layoutOf(operand);
    if (isLazy(operand) || layout.flat.empty())
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
      obtainOperand(op, number, layoutFor(type));
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(withLayout(type, layoutFor(type)));
  }
}

/// The sum of all elements of a flat value is partial over its axes.
void LayoutPropagator::visitFullReduction(ReduceOp op) {
  Layout input = layoutOf(op.getInput()), result;
  input.partial.clear();
  obtainOperand(op, 0, input);
  for (const AxisList &axes : {input.dimAxes(), input.flat})
    for (const std::string &axis : axes)
      result.partial[axis] = static_cast<ReduceKind>(op.getKind());
  op.getResult().setType(withLayout(op.getType(), result));
}

void LayoutPropagator::visitConstrain(ConstrainOp op) {
  Layout wanted = op.getLayout().getLayout();
  op.getResult().replaceAllUsesWith(obtain(op.getInput(), wanted, op));
  op.erase();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult LayoutPropagator::visitLoop(scf::ForOp loop) {
  for (auto [init, arg] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (isLazy(init))
      undecided.insert(arg);
    else
      arg.setType(init.getType());
  }
  if (failed(visitBlock(*loop.getBody())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value yielded = yield->getOperand(number);
    Layout layout = undecided.contains(arg) ? layoutOf(yielded) : layoutOf(arg);
    undecided.erase(arg);
    if (auto type = dyn_cast<RankedTensorType>(arg.getType()))
      arg.setType(withLayout(type, layout));
    yield->setOperand(number, obtain(yielded, layout, yield));
    loop.getInitArgsMutable()[number].set(obtain(loop.getInitArgs()[number], layout, loop));
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
    auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(op, read.getVariableAttr());
    read.getResult().setType(variable.getTensorType());
    return success();
  }
  if (auto assign = dyn_cast<AssignOp>(op)) {
    auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(op, assign.getVariableAttr());
    obtainOperand(op, 0, layoutOf(variable.getTensorType()));
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    for (unsigned number = 0; number < op->getNumOperands(); ++number) {
      Layout wanted = Layout::replicated(shapeOf(op->getOperand(number).getType()).size());
      // Outputs keep the split of their dims; whoever collects them knows the layout.
      wanted.dims = isLazy(op->getOperand(number)) ? wanted.dims : layoutOf(op->getOperand(number)).dims;
      obtainOperand(op, number, wanted);
    }
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>() || (op->getNumResults() == 1 && isLazy(op->getResult(0))))
    return success();
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return success();
  std::optional<LayoutRule> rule = findLayoutRule(op);
  if (!rule)
    return op->emitOpError("has no layout rule");
  return visitRuled(op, *rule);
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
