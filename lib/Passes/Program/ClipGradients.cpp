// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "StepBuilder.h"
#include "StepFunction.h"

#include "ds/Config/TrainingConfig.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace ds {
#define GEN_PASS_DEF_CLIPGRADIENTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// The operands of the return that are gradients.
static SmallVector<OpOperand *> gradientsOf(func::FuncOp function) {
  SmallVector<OpOperand *> gradients;
  for (OpOperand &operand : returnOf(function)->getOpOperands())
    if (gradientVariableOf(function, operand.getOperandNumber()))
      gradients.push_back(&operand);
  return gradients;
}

/// sqrt(sum over gradients of the sum of squares), in f32 at least.
static Value globalNorm(StepBuilder &build, ArrayRef<OpOperand *> gradients, RankedTensorType scalar) {
  Value total;
  for (OpOperand *gradient : gradients) {
    Value value = build.convert(gradient->get(), scalar);
    Value squares = build.reduce(build.mul(value, value), dimRange(0, tensorTypeOf(value).getRank()));
    total = total ? build.add(total, squares) : squares;
  }
  return total ? build.value<math::SqrtOp>(total) : build.zeros(scalar);
}

namespace {

struct ClipGradients : ds::impl::ClipGradientsPassBase<ClipGradients> {
  using ClipGradientsPassBase::ClipGradientsPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findFunction(getOperation(), kStepFunction);
    if (failed(function))
      return signalPassFailure();
    if (!(maxNorm >= 0)) {
      function->emitOpError("max-norm must be >= 0, got ") << maxNorm.getValue();
      return signalPassFailure();
    }
    OpBuilder builder(endOfComputation(*function));
    StepBuilder build(builder, function->getLoc());
    SmallVector<OpOperand *> gradients = gradientsOf(*function);
    Value norm = globalNorm(build, gradients, normType(gradients));
    if (maxNorm > 0)
      scale(build, gradients, norm);
    appendResults(*function, {{norm, builder.getNamedAttr(kNameAttr, builder.getStringAttr("grad_norm"))}});
  }

private:
  /// f32, or f64 if a gradient is.
  RankedTensorType normType(ArrayRef<OpOperand *> gradients) {
    Builder builder(&getContext());
    bool isDouble = llvm::any_of(
        gradients, [](OpOperand *gradient) { return getElementTypeOrSelf(gradient->get().getType()).isF64(); });
    return RankedTensorType::get({}, isDouble ? Type(builder.getF64Type()) : Type(builder.getF32Type()));
  }

  /// Multiplies all gradients by min(1, max-norm / (norm + offset)).
  void scale(StepBuilder &build, ArrayRef<OpOperand *> gradients, Value norm) {
    Value quotient = build.div(build.splat(norm.getType(), maxNorm), build.add(norm, kClippingOffset));
    Value factor = build.value<arith::MinimumFOp>(quotient, build.splat(norm.getType(), 1));
    DenseMap<Type, Value> spread; // the factor, by the type of gradients
    for (OpOperand *gradient : gradients) {
      RankedTensorType type = tensorTypeOf(gradient->get());
      Value &factors = spread[type];
      if (!factors)
        factors = build.broadcast(build.convert(factor, type), {}, type.getShape());
      gradient->set(build.mul(gradient->get(), factors));
    }
  }
};

} // namespace
