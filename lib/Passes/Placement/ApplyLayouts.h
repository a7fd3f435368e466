// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From decisions to types.

#ifndef DS_LIB_PASSES_PLACEMENT_APPLYLAYOUTS_H
#define DS_LIB_PASSES_PLACEMENT_APPLYLAYOUTS_H

#include "LayoutAssignment.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// Gives all values of `function` the layouts of `assignment`: by their types where they are defined and, where a user
/// takes them in another, by a ds.relayout or, if they are lazy (LazyValues.h), by making them anew; at most once per
/// block and layout. Removes the hints.
void applyLayouts(mlir::func::FuncOp function, const LayoutAssignment &assignment);

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_APPLYLAYOUTS_H
