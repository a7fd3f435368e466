// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Plans as text. Plans must have passed `check`.

#ifndef DS_PLAN_INSPECT_H
#define DS_PLAN_INSPECT_H

#include "ds/Plan/Plan.h"

namespace ds::plan {

/// For people: mesh, memory with its peaks, variables, inputs and outputs, traffic, predicted times, and every
/// instruction of every queue. `besideArenas`: what follows the memory report, lines. Ends with a newline.
std::string describePlan(const PlanT &plan, const std::string &besideArenas = "");
/// Only the memory report: what each arena takes, its lower bound, where that is reached, and the largest tensors
/// there.
std::string describeMemory(const PlanT &plan);

/// For programs: all fields of the schema by name, enums as names, absent tables as null. An operation is an object
/// beside its "operation_type"; bytes are replaced by {"bytes": their number}. Valid UTF-8 on several lines.
std::string planAsJson(const PlanT &plan);

/// "12.5 MiB", "1 byte".
std::string formatBytes(uint64_t bytes);

/// "[0, 256) or -100".
std::string formatIntSet(const IntSetT &set);

} // namespace ds::plan

#endif // DS_PLAN_INSPECT_H
