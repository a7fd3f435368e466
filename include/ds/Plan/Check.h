// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Proves that a plan cannot read or write outside its memory, race, or hang.

#ifndef DS_PLAN_CHECK_H
#define DS_PLAN_CHECK_H

#include "ds/Plan/Plan.h"

namespace ds::plan {

/// Limits that keep all arithmetic on a plan's numbers inside 64 bits.
inline constexpr int64_t kMaxElements = int64_t(1) << 46;
inline constexpr int64_t kMaxRanks = 1 << 16;
inline constexpr int64_t kMaxWeightSum = 1 << 16;

/// Returns OK iff, on every rank of the mesh:
///   1. every id refers to something, every enum has a known value, every table that an operation needs is there;
///   2. layouts are layouts of their tensors, and initial data has the size of its variable and lies in a file whose
///      content the plan knows;
///   3. buffers lie aligned inside their arenas and hold all that any instruction, variable or port puts into them;
///   4. two buffers of one arena overlap only while at most one is live; a buffer that is live when the loop begins and
///      used in it counts as live to the loop's end;
///   5. no buffer is used outside its lifetime or read before it is written; variables live throughout, inputs from the
///      start, outputs to the end;
///   6. loops match on all queues; `order` is one schedule of all instructions; each event is signalled exactly once;
///   7. no deadlock: queue orders, events and matched collectives are acyclic together, and the collectives of each
///      group of ranks are on one queue;
///   8. no race: of two instructions that touch the same bytes, one of them writing, one happens before the other.
/// What a kernel does with its pointers is not checked: a plan carries machine code and is trusted like a program.
///
/// Fails with InvalidArgument "invalid plan: ..." at the first fault. Near-linear in the number of instructions times
/// queues; also linear in ranks times extents.
absl::Status check(const PlanT &plan);

} // namespace ds::plan

#endif // DS_PLAN_CHECK_H
