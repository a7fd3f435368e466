// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Kernel graphs as loops over vectors: arith, math, scf, vector and LLVM's loads and stores.

#ifndef DS_LIB_CODEGEN_CPU_EMITKERNEL_H
#define DS_LIB_CODEGEN_CPU_EMITKERNEL_H

#include "ds/Analysis/RowSchedule.h"

#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// Appends the functions of a kernel, `symbol` and, if it folds rows, `symbol`_finish, to `module`. `vectorBits`: the
/// width of the target's vector registers.
void emitKernel(const KernelGraph &graph, llvm::StringRef symbol, unsigned vectorBits, mlir::ModuleOp module);

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_EMITKERNEL_H
