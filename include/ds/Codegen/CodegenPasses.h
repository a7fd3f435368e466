// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The passes that code generators run on kernels. Their contracts stand in the .td file.

#ifndef DS_CODEGEN_CODEGENPASSES_H
#define DS_CODEGEN_CODEGENPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ds {

#define GEN_PASS_DECL
#include "ds/Codegen/CodegenPasses.h.inc"

/// Registers the passes under their flags.
void registerCodegenPasses();

} // namespace ds

#endif // DS_CODEGEN_CODEGENPASSES_H
