// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Rotary embeddings: each row of the last dim is read once and written once, in place or not.

#ifndef DS_LIB_CODEGEN_CPU_EMITROTARY_H
#define DS_LIB_CODEGEN_CPU_EMITROTARY_H

#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// Appends the kernel `symbol` of all f32 rotations to `module`. Buffers: input, cosine, sine, result. Extents: rows
/// per position, positions, width. Its rows are those of the last dim.
void emitRotary(llvm::StringRef symbol, unsigned vectorBits, mlir::ModuleOp module);

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_EMITROTARY_H
