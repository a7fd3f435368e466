// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

using namespace mlir;
using namespace ds;

/// Each operand's gradient is the result's times the other operand: every letter of it is in one of the two.
static void differentiateMatmul(MatmulOp op, Gradients &g) {
  StringRef left = op.getLhsIndices(), right = op.getRhsIndices(), result = op.getResultIndices();
  if (g.needed[0])
    g.operands[0] = g.build.matmul(g.result(), op.getRhs(), (result + "," + right + "->" + left).str());
  if (g.needed[1])
    g.operands[1] = g.build.matmul(op.getLhs(), g.result(), (left + "," + result + "->" + right).str());
}

void ds::attachMatmulGradients(MLIRContext *context) { attachRule<MatmulOp, differentiateMatmul>(context); }
