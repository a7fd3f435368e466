// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Rotary embeddings: each row of the last dim is read once and written once, in place or not.

#ifndef DS_LIB_CODEGEN_CPU_EMITROTARY_H
#define DS_LIB_CODEGEN_CPU_EMITROTARY_H

#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// What the code depends on.
struct RotaryForm {
  size_t numRuns = 1;   ///< of neighbouring dims that the tables have
  bool isWhole = false; ///< whether each half of the input has columns of its own in the tables
  bool isStreamed = false;
};

/// Appends the kernel `symbol` of all f32 rotations of a form to `module`. Buffers: input, cosine, sine, result.
/// Extents: for each run, from the last, the rows of the dims between it and the run after it, and its own; then the
/// width. Its rows are those of the last dim.
void emitRotary(const RotaryForm &form, llvm::StringRef symbol, unsigned vectorBits, mlir::ModuleOp module);

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_EMITROTARY_H
