// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/OpCost.h"

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/MathAttributes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ds;

bool ds::isCostly(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op ? op->getDialect() : nullptr) &&
         !isa<math::SqrtOp, math::RsqrtOp, math::AbsFOp, math::AbsIOp, math::FmaOp, math::CeilOp, math::FloorOp,
              math::RoundOp, math::RoundEvenOp, math::TruncOp, math::CopySignOp>(op);
}

double ds::operationsOf(Operation *op) {
  if (!op || isa<BroadcastOp, YieldOp, arith::ConstantOp>(op))
    return 0;
  // Counted in the code of lib/Codegen/Cpu; a division and a square root hold a unit for as long as eight sums.
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<arith::DivFOp, math::SqrtOp>([](auto) { return 8; })
      .Case<math::RsqrtOp>([](auto) { return 16; })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([](auto) { return 3; }) // they pass NaN on
      .Case([](math::ExpOp exp) { return exp->hasAttr(kBoundedExpAttr) ? 13 : 18; })
      .Case<math::TanhOp>([](auto) { return 30; })
      .Case<math::PowFOp>([](auto) { return 60; })
      .Default([](Operation *other) { return isCostly(other) ? 20 : 1; });
}
