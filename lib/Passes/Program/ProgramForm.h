// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What functions obey from import to the program stage.

#ifndef DS_LIB_PASSES_PROGRAM_PROGRAMFORM_H
#define DS_LIB_PASSES_PROGRAM_PROGRAMFORM_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// Checks that the function reads each variable at most once, before all ops but constants, and assigns it at most
/// once, after all others. Fails with an error on the op.
llvm::LogicalResult verifyVariables(mlir::func::FuncOp function);

/// Checks that arguments have a `ds.name`, and results a `ds.name` or a `ds.gradient`.
llvm::LogicalResult verifyNames(mlir::func::FuncOp function);

} // namespace ds

#endif // DS_LIB_PASSES_PROGRAM_PROGRAMFORM_H
