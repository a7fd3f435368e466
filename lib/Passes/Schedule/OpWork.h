// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What an op asks of a machine.

#ifndef DS_LIB_PASSES_SCHEDULE_OPWORK_H
#define DS_LIB_PASSES_SCHEDULE_OPWORK_H

#include "ds/Config/Machine.h"
#include "ds/Dialect/DsDialect.h"

namespace ds {

/// The work of one op on the rank that has most of it.
struct OpWork {
  double matmulFlops = 0;
  double elementOps = 0; ///< cheap operations; one that is a polynomial counts as many
  double bytes = 0;      ///< read and written, each tensor once
};

/// The work of `op`, which is no collective; nothing if it does nothing at run time.
std::optional<OpWork> workOf(mlir::Operation *op, const Mesh &mesh);

/// The seconds of `work` on a rank: arithmetic or memory, whichever takes longer, plus the call.
double secondsOf(const OpWork &work, const Machine &rank);

/// The seconds of a collective from start to end: latency per step and bytes received, as on a ring; on an axis of size
/// 1 a copy. Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
/// 2005, sections 4.1 to 4.4.
double secondsOf(StartOp start, const Mesh &mesh, const Machine &rank);

} // namespace ds

#endif // DS_LIB_PASSES_SCHEDULE_OPWORK_H
