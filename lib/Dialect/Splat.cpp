// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/Splat.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

std::optional<double> ds::findSplat(Value value) {
  while (value.getDefiningOp<BroadcastOp>() || value.getDefiningOp<ReshapeOp>())
    value = value.getDefiningOp()->getOperand(0);
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<FloatAttr>().getValueAsDouble();
}
