// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Gathers and scatters are each other's adjoint.

#include "Gradients.h"

using namespace mlir;
using namespace ds;

static void differentiateGatherRows(GatherRowsOp op, Gradients &g) {
  g.operands[0] = g.build.value<ScatterAddRowsOp>(op.getTable().getType(), op.getIds(), g.result());
}

static void differentiateScatterAddRows(ScatterAddRowsOp op, Gradients &g) {
  g.operands[1] = g.build.value<GatherRowsOp>(op.getUpdates().getType(), g.result(), op.getIds());
}

static void differentiateGatherElements(GatherElementsOp op, Gradients &g) {
  g.operands[0] = g.build.value<ScatterElementsOp>(op.getInput().getType(), op.getIds(), g.result(), op.getDimAttr());
}

static void differentiateScatterElements(ScatterElementsOp op, Gradients &g) {
  g.operands[1] = g.build.value<GatherElementsOp>(op.getUpdates().getType(), g.result(), op.getIds(), op.getDimAttr());
}

static void differentiateTopK(TopKOp op, Gradients &g) {
  g.operands[0] = g.build.value<ScatterElementsOp>(op.getInput().getType(), op.getIds(), g.result(), op.getDimAttr());
}

void ds::attachIndexGradients(MLIRContext *context) {
  attachRule<GatherRowsOp, differentiateGatherRows>(context);
  attachRule<ScatterAddRowsOp, differentiateScatterAddRows>(context);
  attachRule<GatherElementsOp, differentiateGatherElements>(context);
  attachRule<ScatterElementsOp, differentiateScatterElements>(context);
  attachRule<TopKOp, differentiateTopK>(context);
}
