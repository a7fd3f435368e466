// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gradients.h"

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ds;

static void attachDsGradients(MLIRContext *context, DsDialect *) {
  attachActivationGradients(context);
  attachAttentionGradients(context);
  attachConvolutionGradients(context);
  attachIndexGradients(context);
  attachLossGradients(context);
  attachMatmulGradients(context);
  attachNormGradients(context);
  attachReduceGradients(context);
  attachShapeGradients(context);
}

void ds::registerGradientModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) { attachArithGradients(context); });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) { attachMathGradients(context); });
  registry.addExtension(attachDsGradients);
}
