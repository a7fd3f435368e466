// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Layouts that variables, arguments and `ds.constrain` ask for.

#ifndef DS_LIB_PASSES_PLACEMENT_LAYOUTHINTS_H
#define DS_LIB_PASSES_PLACEMENT_LAYOUTHINTS_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// The layout that a variable's hint asks for or, without one, that of its type.
Layout layoutOf(VariableOp variable);

/// Checks all hints of `module` against the shapes of their tensors and `mesh`; reports the first fault.
mlir::LogicalResult verifyHints(mlir::ModuleOp module, const Mesh &mesh);

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_LAYOUTHINTS_H
