// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

using namespace ds::plan;

/// Appends the instructions of one queue. Sections follow from its loop markers.
static absl::Status listQueue(const PlanT &plan, uint32_t queue, Program &program) {
  Section section = Section::Before;
  const auto &instructions = plan.queues[queue]->instructions;
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const InstructionT &instruction = *instructions[i];
    Step step{&instruction, queue, i, section, {}};
    if (instruction.operation.type == Operation::LoopBegin) {
      if (section != Section::Before)
        return invalidPlan(stepName(plan, step), " must be the only loop_begin of its queue");
      step.section = Section::Begin;
      section = Section::Inside;
    } else if (instruction.operation.type == Operation::LoopEnd) {
      if (section != Section::Inside)
        return invalidPlan(stepName(plan, step), " must follow a loop_begin");
      step.section = Section::End;
      section = Section::After;
    }
    program.lastOrder = std::max(program.lastOrder, instruction.order);
    program.steps.push_back(std::move(step));
  }
  if (section == Section::Inside)
    return invalidPlan("queue \"", plan.queues[queue]->name, "\" has a loop_begin without loop_end");
  return absl::OkStatus();
}

/// The orders of the loop's ends, and that all queues have the same loop.
static absl::Status matchLoops(const PlanT &plan, Program &program) {
  size_t begins = 0;
  program.loopBegin = UINT32_MAX;
  for (const Step &step : program.steps) {
    if (step.section == Section::End)
      program.loopEnd = std::max(program.loopEnd, step.order());
    const auto *loop = operationAs<LoopBeginT>(*step.instruction);
    if (!loop)
      continue;
    if (loop->count < 1)
      return invalidPlan(stepName(plan, step), " must run at least once, got ", loop->count);
    if (begins++ > 0 && loop->count != program.loopCount)
      return invalidPlan(stepName(plan, step), " must run as often as the loops of the other queues, ",
                         program.loopCount, ", got ", loop->count);
    program.loopCount = loop->count;
    program.loopBegin = std::min(program.loopBegin, step.order());
  }
  program.hasLoop = begins > 0;
  if (begins != 0 && begins != plan.queues.size())
    return invalidPlan("the loop must be on every queue, got it on ", begins, " of ", plan.queues.size());
  return absl::OkStatus();
}

absl::StatusOr<Program> ds::plan::listProgram(const PlanT &plan) {
  Program program;
  for (uint32_t queue = 0; queue < plan.queues.size(); ++queue) {
    if (plan.queues[queue]->kind > QueueKind::MAX)
      return invalidPlan("queue \"", plan.queues[queue]->name, "\" has unknown kind ",
                         static_cast<int>(plan.queues[queue]->kind));
    if (plan.queues[queue]->kind == QueueKind::Collective && plan.queues[queue]->axis >= plan.mesh.size())
      return invalidPlan("queue \"", plan.queues[queue]->name, "\" refers to unknown axis ", plan.queues[queue]->axis);
    DS_RETURN_IF_ERROR(listQueue(plan, queue, program));
  }
  DS_RETURN_IF_ERROR(matchLoops(plan, program));
  return program;
}
