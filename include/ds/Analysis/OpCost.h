// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What the ops in a kernel cost.

#ifndef DS_ANALYSIS_OPCOST_H
#define DS_ANALYSIS_OPCOST_H

#include "mlir/IR/Operation.h"

namespace ds {

/// How many operations of a CPU one element of `op` takes, about: 1 for a sum, 18 for an exponential, 0 for what only
/// names values. Null, as of a block argument, is 0.
double operationsOf(mlir::Operation *op);

/// Whether `op` is computed by a polynomial of many terms.
bool isCostly(mlir::Operation *op);

} // namespace ds

#endif // DS_ANALYSIS_OPCOST_H
