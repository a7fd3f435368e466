// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LayoutHints.h"

#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_ASSIGNZEROPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// Whether `value` is a scalar repeated, or a constant.
bool isScalarFactor(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return broadcast.getInput().getType().getRank() == 0;
  return isa_and_nonnull<arith::ConstantOp>(op) || cast<RankedTensorType>(value.getType()).getRank() == 0;
}

/// Where the gradient is used that an update reads, before it is scaled and clipped: follows products with scalars
/// upwards.
OpOperand &gradientRoot(OpOperand &gradient) {
  OpOperand *use = &gradient;
  while (isa_and_nonnull<arith::MulFOp, arith::DivFOp>(use->get().getDefiningOp())) {
    Operation *op = use->get().getDefiningOp();
    bool rightIsScalar = isScalarFactor(op->getOperand(1));
    if (!rightIsScalar && !isScalarFactor(op->getOperand(0)))
      break;
    use = &op->getOpOperand(rightIsScalar ? 0 : 1);
  }
  return *use;
}

struct AssignZero : ds::impl::AssignZeroPassBase<AssignZero> {
  using AssignZeroPassBase::AssignZeroPassBase;

  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    if (stage < 0 || stage > 3 || !mesh.findAxis(axis)) {
      refuse(getOperation(), Refusal::BadInput)
          << "ZeRO must have a stage in [0, 3] and an axis of the mesh, got stage " << static_cast<int64_t>(stage)
          << " over \"" << axis << "\"";
      return signalPassFailure();
    }
    // An axis of one rank splits nothing, and its collectives would be copies.
    if (mesh.axisSize(axis) == 1)
      stage = 0;
    SymbolTable symbols(getOperation());
    auto variableOf = [&](Value value) {
      auto read = value.getDefiningOp<ReadOp>();
      return read ? symbols.lookup<VariableOp>(read.getVariable()) : VariableOp();
    };
    getOperation().walk([&](Operation *op) {
      if (!isa<AdamUpdateOp, SgdUpdateOp>(op))
        return;
      VariableOp parameter = variableOf(op->getOperand(0));
      Layout state = layoutHint(parameter, stage >= 1);
      for (unsigned number = 2; number < 2 + op->getNumResults() - 1; ++number)
        // SGD without momentum has no state: its gradient stands there, which may be another parameter.
        if (VariableOp variable = variableOf(op->getOperand(number));
            variable && variable.getRole() == VariableRole::OptimizerState)
          setHint(variable, state);
      constrainGradient(gradientRoot(op->getOpOperand(1)), state);
    });
    for (VariableOp variable : getOperation().getOps<VariableOp>())
      if (variable.getRole() == VariableRole::Parameter && stage == 3)
        setHint(variable, layoutHint(variable, true));
  }

  /// The layout of the parameter's shard, cut further over the axis if `isFlat`.
  Layout layoutHint(VariableOp parameter, bool isFlat) {
    Layout layout = layoutOf(parameter);
    if (isFlat && layout.flat.empty() && parameter.getTensorType().getRank() > 0)
      layout.flat = {axis};
    return layout;
  }

  void setHint(VariableOp variable, const Layout &layout) {
    variable.setLayoutAttr(LayoutAttr::get(&getContext(), normalized(layout, shapeOf(variable.getType()))));
  }

  void constrainGradient(OpOperand &use, const Layout &layout) {
    Value gradient = use.get();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(gradient);
    auto constrained =
        ConstrainOp::create(builder, gradient.getLoc(), gradient, LayoutAttr::get(&getContext(), layout));
    // A gradient may be a parameter or an input itself, as of a product of two parameters: its other uses are not those
    // of a gradient.
    if (isa<BlockArgument>(gradient) || gradient.getDefiningOp<ReadOp>())
      return use.set(constrained);
    gradient.replaceAllUsesExcept(constrained, constrained);
    auto loop = gradient.getDefiningOp<scf::ForOp>();
    if (!loop || stage < 2)
      return;
    // Every micro-batch gives a shard: constrain what is added to the accumulator.
    unsigned number = cast<OpResult>(gradient).getResultNumber();
    Value arg = loop.getRegionIterArgs()[number];
    auto add = loop.getBody()->getTerminator()->getOperand(number).getDefiningOp<arith::AddFOp>();
    if (!add || !llvm::is_contained(add->getOperands(), arg))
      return;
    unsigned added = add.getLhs() == arg ? 1 : 0;
    builder.setInsertionPoint(add);
    add->setOperand(added, ConstrainOp::create(builder, add.getLoc(), add->getOperand(added),
                                               LayoutAttr::get(&getContext(), layout)));
  }
};

} // namespace
