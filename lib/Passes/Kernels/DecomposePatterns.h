// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DS_LIB_PASSES_KERNELS_DECOMPOSEPATTERNS_H
#define DS_LIB_PASSES_KERNELS_DECOMPOSEPATTERNS_H

#include "LaidOutBuilder.h"

#include "mlir/IR/PatternMatch.h"

namespace ds {

/// exp(x - max) / sum of it, along `dim`.
mlir::Value buildSoftmax(LaidOutBuilder &b, mlir::Value input, int64_t dim);

/// Attention and its gradient as matmuls and softmax.
void populateDecomposeAttentionPatterns(mlir::RewritePatternSet &patterns);

} // namespace ds

#endif // DS_LIB_PASSES_KERNELS_DECOMPOSEPATTERNS_H
