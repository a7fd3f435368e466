// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The decisions of ds-propagate-layouts.

#ifndef DS_LIB_PASSES_PLACEMENT_SOLVELAYOUTS_H
#define DS_LIB_PASSES_PLACEMENT_SOLVELAYOUTS_H

#include "LayoutAssignment.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// Decides the layouts of `function` from the hints on its variables, arguments and ds.constrain ops. Changes nothing.
/// Fails with an error on an op that has no layout rule.
mlir::FailureOr<LayoutAssignment> solveLayouts(mlir::func::FuncOp function, const Mesh &mesh);

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_SOLVELAYOUTS_H
