// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Lazy values (ds/Dialect/Splat.h), which each user has made anew in the layout that it wants.

#ifndef DS_LIB_PASSES_PLACEMENT_LAZYVALUES_H
#define DS_LIB_PASSES_PLACEMENT_LAZYVALUES_H

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/Splat.h"

namespace ds {

/// Whether `value` is a constant of zeros, which is partial over any axes.
bool isZero(mlir::Value value);

/// The layout in which a lazy value can be made for a user that wants it as `wanted`: the same, or one from which a
/// relayout leads there. That layout itself can always be made.
Layout makeableLayout(mlir::Value value, const Layout &wanted);

/// The layout in which `broadcast`, made as `made`, takes what it repeats.
Layout inputLayoutOf(BroadcastOp broadcast, const Layout &made);

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_LAZYVALUES_H
