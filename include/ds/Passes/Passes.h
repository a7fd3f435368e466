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

} // namespace ds

#endif // DS_PASSES_PASSES_H
