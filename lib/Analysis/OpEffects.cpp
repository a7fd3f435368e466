// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Analysis/OpEffects.h"

#include "ds/Analysis/TensorSizes.h"
#include "ds/Dialect/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ds;

void OpTimes::number(Block &block) {
  for (Operation &op : block) {
    times[&op] = inOrder.size();
    inOrder.push_back(&op);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      number(*loop.getBody());
  }
}

uint32_t OpTimes::endOf(Operation *op) const {
  auto loop = dyn_cast<scf::ForOp>(op);
  return of(loop ? loop.getBody()->getTerminator() : op); // a loop ends with its terminator, whatever that holds
}

bool ds::isAlias(Operation *op) { return isa<ReadOp, ReshapeOp, FenceOp>(op); }

bool ds::isLoadedBefore(Operation *op) {
  return isa<arith::ConstantOp>(op) && isTensor(op->getResult(0)) && !isSplat(op->getResult(0));
}

OpEffects ds::effectsOf(Operation *op) {
  OpEffects effects;
  if (isAlias(op) || isLoadedBefore(op))
    return effects;
  llvm::copy_if(op->getOperands(), std::back_inserter(effects.reads), isTensor);
  if (auto start = dyn_cast<StartOp>(op))
    llvm::append_range(effects.begins, (*start.getToken().user_begin())->getResults());
  llvm::copy_if(op->getResults(), std::back_inserter(isa<WaitOp>(op) ? effects.finishes : effects.writes), isTensor);
  return effects;
}

Operation *ds::birthOf(Value value) {
  auto wait = value.getDefiningOp<WaitOp>();
  return wait ? wait.getToken().getDefiningOp() : value.getDefiningOp();
}
