// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How long each instruction of a plan takes, on made-up data.

#ifndef DS_TOOLS_DS_RUN_TIMEPLAN_H
#define DS_TOOLS_DS_RUN_TIMEPLAN_H

#include "ds/Plan/Plan.h"

#include "absl/status/statusor.h"

#include <vector>

namespace ds {

struct InstructionTime {
  uint32_t order = 0; ///< of plan::Instruction
  std::string name;
  double seconds = 0; ///< the median over the steps
};

/// Runs `steps` steps of a plan of one rank, after one that warms up, on the first `threads` of `cores`. Returns the
/// instructions in their order.
absl::StatusOr<std::vector<InstructionTime>> timePlan(const plan::PlanT &plan, int threads,
                                                      const std::vector<int> &cores, int steps);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_TIMEPLAN_H
