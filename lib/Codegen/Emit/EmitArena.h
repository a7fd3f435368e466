// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From the `ds.arena` to the plan's memory.

#ifndef DS_LIB_CODEGEN_EMIT_EMITARENA_H
#define DS_LIB_CODEGEN_EMIT_EMITARENA_H

#include "ds/Analysis/AssignedStorage.h"
#include "ds/Plan/Plan.h"

namespace ds {

/// The instructions of one op: places in the schedule's order, [begin, end).
struct InstructionRange {
  uint32_t begin = 0, end = 0;
};

/// Fills `plan.arenas`, `plan.buffers` (same numbers) and `plan.peaks`. `instructions`: of the op of each time.
void emitArena(plan::PlanT &plan, const AssignedStorage &storage, llvm::ArrayRef<InstructionRange> instructions);

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_EMITARENA_H
