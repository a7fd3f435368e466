// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What the passes of the schedule stage ask about collectives in flight.

#ifndef DS_LIB_PASSES_SCHEDULE_COLLECTIVES_H
#define DS_LIB_PASSES_SCHEDULE_COLLECTIVES_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// The one wait of `start`.
inline WaitOp waitOf(StartOp start) { return mlir::cast<WaitOp>(*start.getToken().user_begin()); }

/// Whether `value` is there from the start of its block: a read, or a fence of one, or an argument.
inline bool isAvailableAtStart(mlir::Value value) {
  while (auto fence = value.getDefiningOp<FenceOp>())
    value = fence.getInput();
  return mlir::isa<mlir::BlockArgument>(value) || mlir::isa<ReadOp>(value.getDefiningOp());
}

/// Whether `start` gathers what is there from the start of the block, so that it may start as early as one likes.
inline bool gathersParameters(StartOp start) {
  return start.getKind() == CollectiveKind::AllGather && llvm::all_of(start.getInputs(), isAvailableAtStart);
}

} // namespace ds

#endif // DS_LIB_PASSES_SCHEDULE_COLLECTIVES_H
