// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"
#include "StepFunction.h"

#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/BitVector.h"

namespace ds {
#define GEN_PASS_DEF_ATTACHOPTIMIZERPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// A step number at which beta^step is 0 for every beta: Adam without bias correction.
static constexpr double kEndlessStep = 1e9;

namespace {

/// A parameter and its gradient.
struct Update {
  VariableOp variable;
  Value gradient;
};

/// Declares state, reads it at the start of the step and assigns it at the end, once all updates are built.
class StateBuilder {
public:
  StateBuilder(ModuleOp module, func::FuncOp function)
      : symbols(module), function(function), reads(function), builder(endOfComputation(function)) {
    for (auto variable : module.getOps<VariableOp>())
      lastVariable = variable;
  }

  /// The place of the updates: before the assigns that were there.
  StepBuilder at(Location location) { return StepBuilder(builder, location); }
  Value read(VariableOp variable) { return reads.get(variable); }
  VariableOp find(FlatSymbolRefAttr name) const { return symbols.lookup<VariableOp>(name.getAttr()); }

  /// Declares a variable that starts as zeros. If the model has one of that name, the symbol is another.
  VariableOp declare(Location location, const Twine &name, VariableRole role, RankedTensorType type) {
    const std::string text = name.str();
    std::string symbol = text;
    while (symbols.lookup(symbol))
      symbol = (kReservedPrefix + symbol).str();
    OpBuilder atModule(function);
    if (lastVariable)
      atModule.setInsertionPointAfter(lastVariable);
    auto variable = VariableOp::create(atModule, location, symbol, role, type, /*initial=*/Attribute(),
                                       /*layout=*/LayoutAttr(), /*frozen=*/false);
    if (symbol != text)
      variable->setAttr(kNameAttr, atModule.getStringAttr(text));
    lastVariable = variable;
    symbols.insert(variable);
    return variable;
  }

  void assign(VariableOp variable, Value value) { assigned.emplace_back(variable, value); }

  void buildAssigns() {
    OpBuilder atEnd(returnOf(function));
    for (auto &[variable, value] : assigned)
      AssignOp::create(atEnd, variable.getLoc(), variable.getSymName(), value);
  }

private:
  SymbolTable symbols;
  func::FuncOp function;
  StepReads reads;
  OpBuilder builder;
  Operation *lastVariable = nullptr;
  SmallVector<std::pair<VariableOp, Value>> assigned;
};

struct AttachOptimizer : ds::impl::AttachOptimizerPassBase<AttachOptimizer> {
  using AttachOptimizerPassBase::AttachOptimizerPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findFunction(getOperation(), kStepFunction);
    if (failed(function))
      return signalPassFailure();
    if (kind != "adam" && kind != "adamw" && kind != "sgd") {
      function->emitOpError("optimizer must be adam, adamw or sgd, got \"") << kind << "\"";
      return signalPassFailure();
    }
    StateBuilder state(getOperation(), *function);
    SmallVector<Update> updates = takeGradients(*function, state);
    RankedTensorType scalar = scalarType(updates);
    rate = appendArgument(*function, scalar, kLearningRateName);
    countStep(*function, state, scalar);
    for (Update update : updates)
      kind == "sgd" ? attachSgd(state, update) : attachAdam(state, update);
    state.buildAssigns();
  }

private:
  /// Drops the gradients from the results and returns them.
  SmallVector<Update> takeGradients(func::FuncOp function, StateBuilder &state) {
    SmallVector<Update> updates;
    llvm::BitVector isGradient(function.getNumResults());
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      FlatSymbolRefAttr variable = gradientVariableOf(function, i);
      if (!variable)
        continue;
      isGradient.set(i);
      updates.push_back({state.find(variable), returnOf(function).getOperand(i)});
    }
    dropResults(function, isGradient);
    return updates;
  }

  /// Of the rate and the step: f32, or f64 if a parameter is.
  RankedTensorType scalarType(ArrayRef<Update> updates) {
    Builder builder(&getContext());
    bool isDouble =
        llvm::any_of(updates, [](Update update) { return update.variable.getTensorType().getElementType().isF64(); });
    return RankedTensorType::get({}, isDouble ? Type(builder.getF64Type()) : Type(builder.getF32Type()));
  }

  /// Counts the steps from 1 in a variable.
  void countStep(func::FuncOp function, StateBuilder &state, RankedTensorType scalar) {
    VariableOp counter = state.declare(function.getLoc(), "ds.step", VariableRole::Counter, scalar);
    StepBuilder build = state.at(function.getLoc());
    Value next = build.add(state.read(counter), 1.0);
    state.assign(counter, next);
    step = kind == "sgd" || biasCorrection ? next : build.splat(scalar, kEndlessStep);
  }

  /// Declares the state `suffix` of a parameter, in f32 at least.
  VariableOp declareState(StateBuilder &state, VariableOp parameter, StringRef suffix) {
    RankedTensorType type = parameter.getTensorType();
    if (type.getElementType().getIntOrFloatBitWidth() < 32)
      type = type.clone(Float32Type::get(&getContext()));
    return state.declare(parameter.getLoc(), nameOf(parameter) + "." + suffix, VariableRole::OptimizerState, type);
  }

  void attachAdam(StateBuilder &state, Update update) {
    VariableOp mean = declareState(state, update.variable, "exp_avg");
    VariableOp variance = declareState(state, update.variable, "exp_avg_sq");
    Value operands[] = {
        state.read(update.variable), update.gradient, state.read(mean), state.read(variance), rate, step};
    auto op = state.at(update.variable.getLoc())
                  .create<AdamUpdateOp>(operands[0].getType(), operands[2].getType(), operands[3].getType(),
                                        operands[0], operands[1], operands[2], operands[3], rate, step, asAttr(beta1),
                                        asAttr(beta2), asAttr(epsilon), asAttr(weightDecay), asFlag(kind == "adamw"));
    state.assign(update.variable, op.getNewParameter());
    state.assign(mean, op.getNewMean());
    state.assign(variance, op.getNewVariance());
  }

  /// Without momentum there is no state: the old velocity is multiplied by 0, so that the gradient may stand in for it.
  void attachSgd(StateBuilder &state, Update update) {
    VariableOp velocity = momentum != 0 ? declareState(state, update.variable, "momentum") : VariableOp();
    Value parameter = state.read(update.variable), oldVelocity = velocity ? state.read(velocity) : update.gradient;
    auto op =
        state.at(update.variable.getLoc())
            .create<SgdUpdateOp>(parameter.getType(), oldVelocity.getType(), parameter, update.gradient, oldVelocity,
                                 rate, step, asAttr(momentum), asAttr(velocity ? dampening.getValue() : 0.0),
                                 asAttr(weightDecay), asFlag(nesterov));
    state.assign(update.variable, op.getNewParameter());
    if (velocity)
      state.assign(velocity, op.getNewVelocity());
  }

  UnitAttr asFlag(bool isSet) { return isSet ? UnitAttr::get(&getContext()) : UnitAttr(); }
  FloatAttr asAttr(double number) { return Builder(&getContext()).getF64FloatAttr(number); }

  Value rate; ///< scalar argument
  Value step; ///< scalar, from 1
};

} // namespace
