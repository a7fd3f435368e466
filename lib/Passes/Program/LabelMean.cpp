// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/LabelMean.h"

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ds;

/// What a sum over all dims sums; null if `value` is none.
static Value summedBy(Value value) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  const bool isTotal = reduce && reduce.getKind() == Reduction::Sum &&
                       cast<RankedTensorType>(reduce.getResult().getType()).getRank() == 0;
  return isTotal ? reduce.getInput() : Value();
}

std::optional<LabelMean> ds::findLabelMean(Value loss) {
  while (auto reshape = loss.getDefiningOp<ReshapeOp>())
    loss = reshape.getInput();
  auto quotient = loss.getDefiningOp<arith::DivFOp>();
  if (!quotient)
    return std::nullopt;
  Value losses = summedBy(quotient.getLhs()), counts = summedBy(quotient.getRhs());
  if (!losses || !counts || !losses.getDefiningOp<CrossEntropyOp>())
    return std::nullopt;
  auto fromFlag = counts.getDefiningOp<arith::UIToFPOp>();
  if (!fromFlag || !getElementTypeOrSelf(fromFlag.getIn().getType()).isInteger(1))
    return std::nullopt;
  return LabelMean{quotient.getLhs(), quotient.getRhs()};
}
