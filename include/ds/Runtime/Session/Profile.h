// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Where a step's time went, for people.

#ifndef DS_RUNTIME_SESSION_PROFILE_H
#define DS_RUNTIME_SESSION_PROFILE_H

#include "ds/Plan/Plan.h"
#include "ds/Runtime/Executor.h"

namespace ds::runtime {

/// The timings of a step in the Trace Event Format of Chrome's tracing view, which Perfetto reads too: one event per
/// instruction that took time, one thread per queue.
std::string traceText(const plan::PlanT &plan, const std::vector<InstructionTiming> &timings);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_PROFILE_H
