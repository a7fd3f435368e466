// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"
#include "StepFunction.h"

#include "ds/Config/TrainingConfig.h"
#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace ds {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// Reverse mode over one block:
/// 1. Mark the values that depend on a trainable variable through floats.
/// 2. Mark those among them that the loss depends on.
/// 3. Seed the loss with 1 and visit the marked ops backwards; each adds to the gradients of its operands.
class ReverseMode {
public:
  ReverseMode(func::FuncOp function, const llvm::SetVector<StringAttr> &trainable)
      : builder(endOfComputation(function)), block(function.front()), trainable(trainable) {}

  LogicalResult run(Value loss) {
    SmallVector<Operation *> active = markActive();
    markNeeded(active, loss);
    addGradient(loss, StepBuilder(builder, loss.getLoc()).splat(loss.getType(), 1));
    for (Operation *op : llvm::reverse(active))
      if (failed(visit(op)))
        return failure();
    return success();
  }

  /// Whether the loss depends on a variable.
  bool isNeeded(StringAttr variable) const { return neededVariables.contains(variable); }
  /// The gradient of a variable; null if it is zero everywhere.
  Value gradientOf(StringAttr variable) const { return variableGradients.lookup(variable); }

private:
  /// Returns the ops with a marked result, in order.
  SmallVector<Operation *> markActive() {
    SmallVector<Operation *> ops;
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>() || isa<AssignOp>(op) || !isActive(&op))
        continue;
      for (Value result : op.getResults())
        if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
          activeValues.insert(result);
      ops.push_back(&op);
    }
    return ops;
  }

  void markNeeded(ArrayRef<Operation *> active, Value loss) {
    llvm::DenseSet<Value> needed = {loss};
    for (Operation *op : llvm::reverse(active)) {
      if (llvm::none_of(op->getResults(), [&](Value result) { return needed.contains(result); }))
        continue;
      if (auto read = dyn_cast<ReadOp>(op))
        neededVariables.insert(read.getVariableAttr().getAttr());
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (activeValues.contains(operand))
            needed.insert(operand);
      });
    }
  }

  bool isActive(Operation *op) const {
    if (isa<StopGradientOp>(op))
      return false;
    if (auto read = dyn_cast<ReadOp>(op))
      return trainable.contains(read.getVariableAttr().getAttr());
    auto usesActive = [&](Operation *nested) {
      return WalkResult(
          failure(llvm::any_of(nested->getOperands(), [&](Value value) { return activeValues.contains(value); })));
    };
    return op->walk(usesActive).wasInterrupted();
  }

  /// Adds the gradients of an op's operands, if it has one itself.
  LogicalResult visit(Operation *op) {
    SmallVector<Value> results =
        llvm::map_to_vector(op->getResults(), [&](Value value) { return gradients.lookup(value); });
    if (llvm::none_of(results, [](Value gradient) { return static_cast<bool>(gradient); }))
      return success();
    if (auto read = dyn_cast<ReadOp>(op)) {
      addTo(variableGradients[read.getVariableAttr().getAttr()], results.front());
      return success();
    }
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return refuse(op, Refusal::Unsupported)
             << "has no gradient rule, but the loss depends on a trainable variable through it";
    SmallVector<bool> needed =
        llvm::map_to_vector(op->getOperands(), [&](Value value) { return activeValues.contains(value); });
    SmallVector<Value> operands;
    if (failed(differentiable.buildGradients(builder, results, needed, operands)))
      return failure();
    for (auto [operand, gradient, isNeeded] : llvm::zip_equal(op->getOperands(), operands, needed))
      if (isNeeded && gradient)
        addGradient(operand, gradient);
    return success();
  }

  void addGradient(Value value, Value gradient) {
    assert(value.getType() == gradient.getType() && "a gradient has the type of its value");
    addTo(gradients[value], gradient);
  }

  void addTo(Value &sum, Value gradient) {
    sum = sum ? StepBuilder(builder, gradient.getLoc()).add(sum, gradient) : gradient;
  }

  OpBuilder builder;
  Block &block;
  const llvm::SetVector<StringAttr> &trainable;
  llvm::DenseSet<Value> activeValues;
  llvm::DenseSet<StringAttr> neededVariables;
  llvm::DenseMap<Value, Value> gradients;
  llvm::DenseMap<StringAttr, Value> variableGradients;
};

} // namespace

/// Sets `frozen` on the parameters that an expression matches as a whole.
static LogicalResult freezeParameters(ModuleOp module, ArrayRef<std::string> expressions) {
  std::vector<VariableOp> parameters;
  std::vector<std::string> names;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == VariableRole::Parameter) {
      parameters.push_back(variable);
      names.push_back(nameOf(variable).str());
    }
  absl::StatusOr<std::vector<bool>> isFrozen = matchNames("model.frozen", expressions, names);
  if (!isFrozen.ok())
    return refuse(module, Refusal::BadInput) << std::string(isFrozen.status().message());
  for (auto [variable, frozen] : llvm::zip_equal(parameters, *isFrozen))
    if (frozen)
      variable.setFrozen(true);
  return success();
}

/// The loss: the one result but for the number of labels, a scalar float.
static FailureOr<Value> findLoss(func::FuncOp function) {
  const unsigned others = findResult(function, kLabelCountName) ? 1 : 0;
  if (function.getNumResults() != 1 + others)
    return function.emitOpError("must have the loss as its one result, got ") << function.getNumResults() << " results";
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes().front());
  if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
    return refuse(function, Refusal::BadInput)
           << "loss must be a scalar float tensor, got " << function.getResultTypes().front();
  return returnOf(function).getOperand(0);
}

/// Appends the gradient of each variable that the loss depends on as a result; zeros where no element matters.
static void appendGradients(func::FuncOp function, ArrayRef<VariableOp> variables, const ReverseMode &reverse) {
  OpBuilder builder(endOfComputation(function));
  SmallVector<NamedResult> results;
  for (VariableOp variable : variables) {
    if (!reverse.isNeeded(variable.getSymNameAttr()))
      continue;
    Value gradient = reverse.gradientOf(variable.getSymNameAttr());
    if (!gradient)
      gradient = StepBuilder(builder, variable.getLoc()).zeros(variable.getTensorType());
    results.push_back(
        {gradient, builder.getNamedAttr(kGradientAttr, FlatSymbolRefAttr::get(variable.getSymNameAttr()))});
  }
  appendResults(function, results);
}

/// The ops that stopped the gradient have done so.
static void eraseStops(func::FuncOp function) {
  function.walk([](StopGradientOp op) {
    op.replaceAllUsesWith(op.getInput());
    op.erase();
  });
}

namespace {

struct Differentiate : ds::impl::DifferentiatePassBase<Differentiate> {
  using DifferentiatePassBase::DifferentiatePassBase;

  void runOnOperation() override {
    if (!frozen.empty() && failed(freezeParameters(getOperation(), frozen)))
      return signalPassFailure();
    FailureOr<func::FuncOp> function = findFunction(getOperation(), kForwardFunction);
    if (failed(function))
      return signalPassFailure();
    FailureOr<Value> loss = findLoss(*function);
    if (failed(loss) || failed(differentiate(*function, *loss)))
      return signalPassFailure();
    eraseStops(*function);
    function->setName(kStepFunction);
  }

private:
  LogicalResult differentiate(func::FuncOp function, Value loss) {
    SmallVector<VariableOp> variables;
    llvm::SetVector<StringAttr> trainable;
    for (auto variable : getOperation().getOps<VariableOp>()) {
      if (variable.getRole() != VariableRole::Parameter || variable.getFrozen())
        continue;
      variables.push_back(variable);
      trainable.insert(variable.getSymNameAttr());
    }
    ReverseMode reverse(function, trainable);
    if (failed(reverse.run(loss)))
      return failure();
    appendGradients(function, variables, reverse);
    return success();
  }
};

} // namespace
