// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

using namespace mlir;
using namespace ds;

/// Creates a convolution or one of its gradients, with the window of `op`.
template <typename OpT, typename WindowOp>
static Value convolve(StepBuilder &build, WindowOp op, Type type, Value a, Value b) {
  return build.value<OpT>(type, a, b, op.getStridesAttr(), op.getPadsAttr(), op.getDilationsAttr(), op.getGroupsAttr());
}

static void differentiateConvolution(ConvolutionOp op, Gradients &g) {
  if (g.needed[0])
    g.operands[0] = convolve<ConvolutionGradInputOp>(g.build, op, op.getInput().getType(), op.getWeight(), g.result());
  if (g.needed[1])
    g.operands[1] = convolve<ConvolutionGradWeightOp>(g.build, op, op.getWeight().getType(), op.getInput(), g.result());
}

/// A transposed convolution is the adjoint of a convolution, so its own adjoint is the convolution.
static void differentiateTransposedConvolution(ConvolutionGradInputOp op, Gradients &g) {
  if (g.needed[0])
    g.operands[0] =
        convolve<ConvolutionGradWeightOp>(g.build, op, op.getWeight().getType(), g.result(), op.getGradient());
  if (g.needed[1])
    g.operands[1] = convolve<ConvolutionOp>(g.build, op, op.getGradient().getType(), g.result(), op.getWeight());
}

static void differentiateMaxPool(MaxPoolOp op, Gradients &g) {
  g.operands[0] = g.build.value<MaxPoolGradOp>(op.getInput().getType(), op.getInput(), g.result(), op.getKernelAttr(),
                                               op.getStridesAttr(), op.getPadsAttr(), op.getDilationsAttr());
}

void ds::attachConvolutionGradients(MLIRContext *context) {
  attachRule<ConvolutionOp, differentiateConvolution>(context);
  attachRule<ConvolutionGradInputOp, differentiateTransposedConvolution>(context);
  attachRule<MaxPoolOp, differentiateMaxPool>(context);
}
