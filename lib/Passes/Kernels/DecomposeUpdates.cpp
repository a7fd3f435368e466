// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LaidOutBuilder.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

namespace ds {
#define GEN_PASS_DEF_DECOMPOSEUPDATESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

using Scalars = SmallVector<Value, 3>;

/// `value` with floats of type `element`.
Value convert(LaidOutBuilder &b, Value value, Type element) {
  RankedTensorType type = LaidOutBuilder::typeOf(value);
  const unsigned from = type.getElementTypeBitWidth(), to = element.getIntOrFloatBitWidth();
  if (type.getElementType() == element)
    return value;
  RankedTensorType result = LaidOutBuilder::withElement(type, element);
  return to > from ? b.make<arith::ExtFOp>(result, value) : b.make<arith::TruncFOp>(result, value);
}

/// An update computes in the type of its state, which may be wider than its parameter.
template <typename UpdateOp> Type elementOf(UpdateOp op) { return getElementTypeOrSelf(op->getOperand(2).getType()); }

/// 1 - beta^step, exact where beta is near 1.
Value correction(LaidOutBuilder &b, Value step, double beta) {
  return b.make<arith::NegFOp>(b.make<math::ExpM1Op>(b.mulScalar(step, std::log(beta))));
}

bool isDecoupled(AdamUpdateOp op) { return op.getDecoupled() && !op.getDecay().isZero(); }

/// Of the mean and of the deviation; then, if it is decoupled, of the parameter.
Scalars adamScales(LaidOutBuilder &b, AdamUpdateOp op) {
  Value rate = convert(b, op.getRate(), elementOf(op)), step = convert(b, op.getStep(), elementOf(op));
  Scalars scales = {b.div(rate, correction(b, step, op.getBeta1().convertToDouble())),
                    b.make<math::RsqrtOp>(correction(b, step, op.getBeta2().convertToDouble()))};
  if (isDecoupled(op))
    scales.push_back(b.addScalar(b.mulScalar(rate, -op.getDecay().convertToDouble()), 1.0));
  return scales;
}

SmallVector<Value> decompose(LaidOutBuilder &b, AdamUpdateOp op, const Scalars &scales) {
  RankedTensorType type = LaidOutBuilder::typeOf(op.getMean());
  double beta1 = op.getBeta1().convertToDouble(), beta2 = op.getBeta2().convertToDouble(),
         decay = op.getDecay().convertToDouble();
  auto spread = [&](Value scalar) { return b.broadcast(scalar, type, {}); };
  Value parameter = convert(b, op.getParameter(), elementOf(op)),
        gradient = convert(b, op.getGradient(), elementOf(op));
  if (decay != 0 && !op.getDecoupled())
    gradient = b.add(gradient, b.mulScalar(parameter, decay));
  Value mean = b.add(b.mulScalar(op.getMean(), beta1), b.mulScalar(gradient, 1 - beta1));
  Value variance = b.add(b.mulScalar(op.getVariance(), beta2), b.mulScalar(b.mul(gradient, gradient), 1 - beta2));
  Value deviation = b.mul(b.make<math::SqrtOp>(variance), spread(scales[1]));
  Value change = b.div(b.mul(mean, spread(scales[0])), b.addScalar(deviation, op.getEpsilon().convertToDouble()));
  if (isDecoupled(op))
    parameter = b.mul(parameter, spread(scales[2]));
  return {convert(b, b.sub(parameter, change), op.getParameter().getType().getElementType()), mean, variance};
}

/// Whether this is step 1, and the rate.
Scalars sgdScales(LaidOutBuilder &b, SgdUpdateOp op) {
  Value one = b.splat(1, LaidOutBuilder::typeOf(op.getStep()));
  return {b.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, op.getStep(), one), convert(b, op.getRate(), elementOf(op))};
}

SmallVector<Value> decompose(LaidOutBuilder &b, SgdUpdateOp op, const Scalars &scales) {
  RankedTensorType type = LaidOutBuilder::typeOf(op.getVelocity());
  double momentum = op.getMomentum().convertToDouble(), dampening = op.getDampening().convertToDouble();
  double decay = op.getDecay().convertToDouble();
  Value parameter = convert(b, op.getParameter(), elementOf(op)),
        direction = convert(b, op.getGradient(), elementOf(op));
  if (decay != 0)
    direction = b.add(direction, b.mulScalar(parameter, decay));
  Value later = b.add(b.mulScalar(op.getVelocity(), momentum), b.mulScalar(direction, 1 - dampening));
  // Step 1 begins the velocity anew, whatever it was, and does not dampen.
  Value velocity = b.make<arith::SelectOp>(b.broadcast(scales[0], type, {}), direction, later);
  Value used = op.getNesterov() ? b.add(direction, b.mulScalar(velocity, momentum)) : velocity;
  Value change = b.mul(used, b.broadcast(scales[1], type, {}));
  return {convert(b, b.sub(parameter, change), op.getParameter().getType().getElementType()), velocity};
}

struct DecomposeUpdates : ds::impl::DecomposeUpdatesPassBase<DecomposeUpdates> {
  void runOnOperation() override {
    scalars.clear();
    splats.clear();
    getOperation().walk([&](Operation *op) {
      if (auto adam = dyn_cast<AdamUpdateOp>(op))
        replace(adam, adamScales);
      else if (auto sgd = dyn_cast<SgdUpdateOp>(op))
        replace(sgd, sgdScales);
    });
  }

private:
  /// What `makeScalars` makes is shared by all updates of a block and an element type that differ in their tensors
  /// only.
  template <typename UpdateOp> void replace(UpdateOp op, Scalars (*makeScalars)(LaidOutBuilder &, UpdateOp)) {
    OpBuilder builder(op);
    LaidOutBuilder b(builder, op.getLoc());
    b.splats = &splats[op->getBlock()];
    auto [it, isNew] =
        scalars.try_emplace({op->getBlock(), op.getRate(), op.getStep(), op->getAttrDictionary(), elementOf(op)});
    if (isNew)
      it->second = makeScalars(b, op);
    op->replaceAllUsesWith(decompose(b, op, it->second));
    op->erase();
  }

  DenseMap<std::tuple<Block *, Value, Value, DictionaryAttr, Type>, Scalars> scalars;
  DenseMap<Block *, DenseMap<Attribute, Value>> splats;
};

} // namespace
