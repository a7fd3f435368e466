// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The passes of the compiler. Their contracts stand in the .td files; the order is in Pipelines.h.

#ifndef DS_PASSES_PASSES_H
#define DS_PASSES_PASSES_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ds {

#define GEN_PASS_DECL
#include "ds/Passes/Passes.h.inc"

/// Registers every pass of the project under its flag.
void registerPasses();

/// Attaches the gradient rules of arith, math and ds ops. Without them `ds-differentiate` refuses every op.
void registerGradientModels(mlir::DialectRegistry &registry);

/// On the loop of `ds-accumulate-gradients`, ArrayAttr: per loop result the FlatSymbolRefAttr of the variable whose
/// gradient it sums up, UnitAttr for the others.
inline constexpr llvm::StringLiteral kLoopGradientsAttr = "ds.gradients";

} // namespace ds

#endif // DS_PASSES_PASSES_H
