// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace ds {
#define GEN_PASS_DEF_CONTRACTPRODUCTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

/// The product that `value` is, if nobody else reads it. Narrow floats are rounded after each op.
static arith::MulFOp findOwnProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  bool isWide = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() >= 32;
  return product && isWide && product->hasOneUse() && isa<RankedTensorType>(value.getType()) ? product
                                                                                             : arith::MulFOp();
}

/// -value, which costs nothing: the instruction negates.
static Value negate(OpBuilder &builder, Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return arith::NegFOp::create(builder, value.getLoc(), value);
  Attribute negative = FloatAttr::get(splat.getElementType(), neg(splat.getSplatValue<APFloat>()));
  return arith::ConstantOp::create(builder, value.getLoc(), DenseElementsAttr::get(splat.getType(), negative));
}

/// a b + c, or a b - c.
template <typename OpT> static bool contractLeft(OpT op) {
  arith::MulFOp product = findOwnProduct(op.getLhs());
  if (!product)
    return false;
  OpBuilder builder(op);
  Value addend = op.getRhs();
  if (isa<arith::SubFOp>(op))
    addend = negate(builder, addend);
  op.replaceAllUsesWith(
      math::FmaOp::create(builder, op.getLoc(), product.getLhs(), product.getRhs(), addend).getResult());
  op.erase();
  product.erase();
  return true;
}

/// c + a b, or c - a b.
template <typename OpT> static void contractRight(OpT op) {
  arith::MulFOp product = findOwnProduct(op.getRhs());
  if (!product)
    return;
  OpBuilder builder(op);
  Value factor = product.getLhs();
  if (isa<arith::SubFOp>(op))
    factor = negate(builder, factor);
  op.replaceAllUsesWith(math::FmaOp::create(builder, op.getLoc(), factor, product.getRhs(), op.getLhs()).getResult());
  op.erase();
  product.erase();
}

template <typename OpT> static void contract(OpT op) {
  if (!contractLeft(op))
    contractRight(op);
}

namespace {
struct ContractProducts : ds::impl::ContractProductsPassBase<ContractProducts> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp>(op))
        sums.push_back(op);
    });
    for (Operation *op : sums)
      if (auto sum = dyn_cast<arith::AddFOp>(op))
        contract(sum);
      else
        contract(cast<arith::SubFOp>(op));
  }
};
} // namespace
