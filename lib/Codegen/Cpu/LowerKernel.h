// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From the loops of a kernel to LLVM's dialect.

#ifndef DS_LIB_CODEGEN_CPU_LOWERKERNEL_H
#define DS_LIB_CODEGEN_CPU_LOWERKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ds {

/// Functions of f32 as polynomials on vectors, where they are shorter or more exact than those of MLIR: cos, erf, exp,
/// expm1, pow, sin, tanh. All are within 4 units of the last place, NaN stays NaN, and results below the least normal
/// number are zero. An fma is one instruction, or a product and a sum on CPUs that have none.
void populateMathApproximationPatterns(mlir::RewritePatternSet &patterns);

/// Lowers a module that emitKernel made to LLVM's dialect.
mlir::LogicalResult lowerKernel(mlir::ModuleOp module);

/// What holds afterwards, see the pass `ds-verify-lowered-kernels`. Fails with an error on each op for which it does
/// not.
mlir::LogicalResult verifyLoweredKernels(mlir::ModuleOp module);

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_LOWERKERNEL_H
