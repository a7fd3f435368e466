// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"
#include "StepFunction.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/SymbolTable.h"

#include <limits>

namespace ds {
#define GEN_PASS_DEF_GUARDASSIGNSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// Whether a scalar is neither NaN nor infinite.
static Value isFinite(StepBuilder &build, Value scalar) {
  Value infinity = build.splat(scalar.getType(), std::numeric_limits<double>::infinity());
  return build.compare(arith::CmpFPredicate::OLT, build.value<math::AbsFOp>(scalar), infinity);
}

namespace {

struct GuardAssigns : ds::impl::GuardAssignsPassBase<GuardAssigns> {
  using GuardAssignsPassBase::GuardAssignsPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findFunction(getOperation(), kStepFunction);
    if (failed(function))
      return signalPassFailure();
    OpBuilder builder(endOfComputation(*function));
    StepBuilder build(builder, function->getLoc());
    Value finite;
    for (StringRef name : {"loss", "grad_norm"}) {
      std::optional<unsigned> number = findResult(*function, name);
      if (!number || tensorTypeOf(returnOf(*function).getOperand(*number)).getRank() != 0) {
        function->emitOpError("must have a scalar result \"") << name << "\" to guard its assigns with";
        return signalPassFailure();
      }
      Value isGood = isFinite(build, returnOf(*function).getOperand(*number));
      finite = finite ? build.value<arith::AndIOp>(finite, isGood) : isGood;
    }
    guard(*function, builder, finite);
  }

private:
  void guard(func::FuncOp function, OpBuilder &builder, Value finite) {
    SymbolTable symbols(getOperation());
    StepReads reads(function);
    DenseMap<ArrayRef<int64_t>, Value> spread; // the flag, by the shape of variables
    for (auto assign : function.getOps<AssignOp>()) {
      StepBuilder build(builder, assign.getLoc()); // kernels are named by it
      Value old = reads.get(symbols.lookup<VariableOp>(assign.getVariable()));
      ArrayRef<int64_t> shape = tensorTypeOf(old).getShape();
      Value &flags = spread[shape];
      if (!flags)
        flags = build.broadcast(finite, {}, shape);
      assign.getValueMutable().assign(build.select(flags, assign.getValue(), old));
    }
  }
};

} // namespace
