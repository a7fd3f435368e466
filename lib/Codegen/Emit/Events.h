// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What orders the queues of a plan.

#ifndef DS_LIB_CODEGEN_EMIT_EVENTS_H
#define DS_LIB_CODEGEN_EMIT_EVENTS_H

#include "ds/Plan/Plan.h"

namespace ds {

/// Adds the waits and signals between queues that order every two instructions that touch the same bytes, one of them
/// writing. Events that follow from others are left off.
void addEvents(plan::PlanT &plan);

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_EVENTS_H
