// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

using namespace ds::plan;

std::string ds::plan::bufferName(const PlanT &plan, uint32_t buffer) {
  return absl::StrCat("buffer ", buffer, " \"", plan.buffers[buffer]->name, "\"");
}

std::string ds::plan::stepName(const PlanT &plan, const Step &step) {
  return absl::StrCat("instruction \"", step.instruction->name, "\" (", step.index, " on queue \"",
                      plan.queues[step.queue]->name, "\")");
}

absl::Status ds::plan::check(const PlanT &plan) {
  DS_RETURN_IF_ERROR(checkTables(plan));
  absl::StatusOr<Program> program = listProgram(plan);
  if (!program.ok())
    return program.status();
  DS_RETURN_IF_ERROR(checkOperations(plan, *program));
  DS_RETURN_IF_ERROR(checkVariables(plan, *program));
  DS_RETURN_IF_ERROR(checkSizes(plan, *program));
  DS_RETURN_IF_ERROR(checkSchedule(plan, *program));
  DS_RETURN_IF_ERROR(checkMemory(plan, *program));
  return checkRaces(plan, *program);
}
