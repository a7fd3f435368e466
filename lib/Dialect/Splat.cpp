// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/Splat.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

bool ds::isSplat(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

bool ds::isLazy(Value value) { return isSplat(value) || isa_and_nonnull<BroadcastOp, IotaOp>(value.getDefiningOp()); }

DenseElementsAttr ds::findElements(Value value) {
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) ? elements : DenseElementsAttr();
}

std::optional<double> ds::findSplat(Value value) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(findElements(value));
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<FloatAttr>().getValueAsDouble();
}
