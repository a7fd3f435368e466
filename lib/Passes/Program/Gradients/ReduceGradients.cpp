// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "ds/Dialect/Refusal.h"

using namespace mlir;
using namespace ds;

/// The gradient in equal shares to the elements that equal the extremum.
static Value shareAmongExtrema(ReduceOp op, Gradients &g, ArrayRef<int64_t> kept) {
  ArrayRef<int64_t> shape = tensorTypeOf(op.getInput()).getShape();
  Value extremum = g.build.broadcast(op.getResult(), kept, shape);
  Value wins = g.build.compare(arith::CmpFPredicate::OEQ, op.getInput(), extremum);
  Value count = g.build.reduce(g.build.keepWhere(wins, g.build.splat(op.getInput().getType(), 1)), op.getDims());
  Value share = g.build.broadcast(g.build.div(g.result(), count), kept, shape);
  return g.build.keepWhere(wins, share);
}

static void differentiateReduce(ReduceOp op, Gradients &g) {
  RankedTensorType input = tensorTypeOf(op.getInput());
  SmallVector<int64_t> kept = dimRange(0, input.getRank());
  llvm::erase_if(kept, [&](int64_t dim) { return llvm::is_contained(op.getDims(), dim); });
  switch (op.getKind()) {
  case Reduction::Sum:
    g.operands[0] = g.build.broadcast(g.result(), kept, input.getShape());
    return;
  case Reduction::Max:
  case Reduction::Min:
    g.operands[0] = shareAmongExtrema(op, g, kept);
    return;
  case Reduction::And:
  case Reduction::Or:
    g.status = refuse(op, Refusal::Unsupported) << "of kind and / or has no gradient";
  }
}

void ds::attachReduceGradients(MLIRContext *context) { attachRule<ReduceOp, differentiateReduce>(context); }
