// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

using namespace mlir;
using namespace ds;

static void differentiateCrossEntropy(CrossEntropyOp op, Gradients &g) {
  g.operands[0] = g.build.value<CrossEntropyGradOp>(op.getLogits().getType(), op.getLogits(), op.getLabels(),
                                                    g.result(), op.getIgnoreIndexAttr());
}

void ds::attachLossGradients(MLIRContext *context) { attachRule<CrossEntropyOp, differentiateCrossEntropy>(context); }
