// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From storages to places in the arena, and from places to events.

#ifndef DS_LIB_CODEGEN_EMIT_ARENA_H
#define DS_LIB_CODEGEN_EMIT_ARENA_H

#include "ds/Analysis/Storage.h"

#include "ds/Plan/Plan.h"

namespace ds {

/// Gives every storage a place in one device arena: fills `plan.arenas`, `plan.buffers` (one per storage, same ids) and
/// `plan.peaks`. Lifetimes are those of the instructions; variables live throughout, inputs from the start, outputs to
/// the end.
void assignArena(plan::PlanT &plan, const std::vector<Storage> &storages);

/// Adds the waits and signals between queues that order every two instructions that touch the same bytes, one of them
/// writing. Events that follow from others are left off.
void addEvents(plan::PlanT &plan);

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_ARENA_H
