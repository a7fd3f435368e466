// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What an op asks of a machine.

#ifndef DS_LIB_PASSES_SCHEDULE_OPWORK_H
#define DS_LIB_PASSES_SCHEDULE_OPWORK_H

#include "ds/Config/Machine.h"
#include "ds/Dialect/DsDialect.h"

namespace ds {

/// Whether `op` takes time of its own on some queue.
bool takesTime(mlir::Operation *op);

/// The work of an `op` that takes time: of a `ds.start`, the whole collective's. Fails, with an error on the op, if a
/// kernel has no shape.
mlir::FailureOr<Work> workOf(mlir::Operation *op, const Mesh &mesh);

} // namespace ds

#endif // DS_LIB_PASSES_SCHEDULE_OPWORK_H
