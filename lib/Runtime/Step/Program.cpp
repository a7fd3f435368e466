// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Program.h"

#include "BuildTask.h"
#include "NumberCheck.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <set>

using namespace ds;
using namespace ds::runtime;

namespace {
/// Where an event is signalled.
struct EventPlace {
  bool isKnown = false;
  int section = 0;
};
} // namespace

std::string ds::runtime::nameOfInstruction(const plan::InstructionT &instruction) {
  if (!instruction.name.empty())
    return instruction.name;
  return absl::StrCat(std::string(plan::nameOf(instruction.operation.type)), " #", instruction.order);
}

static bool isMarker(const plan::InstructionT &instruction) {
  return instruction.operation.type == plan::Operation::LoopBegin ||
         instruction.operation.type == plan::Operation::LoopEnd;
}

/// Opens all groups that the plan uses, in ascending order of queue and axis: on all ranks the same.
static absl::Status openCommunicators(const plan::PlanT &plan, Transport &transport, Program &program) {
  std::set<std::pair<uint32_t, uint32_t>> groups;
  for (uint32_t queue = 0; queue < plan.queues.size(); ++queue)
    for (const auto &instruction : plan.queues[queue]->instructions) {
      if (const auto *collective = instruction->operation.AsCollective())
        groups.insert({queue, collective->axis});
      if (instruction->operation.AsRemap())
        groups.insert({queue, Transport::kAllAxes});
    }
  for (const auto &[queue, axis] : groups) {
    if (axis != Transport::kAllAxes && axis >= plan.mesh.size())
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: axis must be below ", plan.mesh.size(), ", got ", axis));
    DS_ASSIGN_OR_RETURN(program.communicators[std::make_pair(queue, axis)], transport.open(queue, axis));
  }
  return absl::OkStatus();
}

/// Notes in which section each event is signalled.
static absl::StatusOr<std::vector<EventPlace>> placeEvents(const plan::PlanT &plan) {
  std::vector<EventPlace> places(plan.events);
  for (const auto &queue : plan.queues) {
    int section = 0;
    for (const auto &instruction : queue->instructions) {
      section += isMarker(*instruction);
      for (uint32_t event : instruction->signals) {
        if (event >= plan.events || places[event].isKnown)
          return absl::InvalidArgumentError(
              absl::StrCat("invalid plan: event must be below ", plan.events, " and signalled once, got ", event));
        places[event] = {true, section};
      }
    }
  }
  return places;
}

/// The events of `waits` to wait for at run time, for an instruction in `section`.
static absl::StatusOr<std::vector<uint32_t>> resolveWaits(const std::vector<uint32_t> &waits, int section,
                                                          const std::vector<EventPlace> &places) {
  std::vector<uint32_t> result;
  for (uint32_t event : waits) {
    if (event >= places.size() || !places[event].isKnown || places[event].section > section)
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: event ", event, " must be signalled before or beside its wait"));
    if (places[event].section == section)
      result.push_back(event);
  }
  return result;
}

static absl::Status addStep(const plan::InstructionT &instruction, int section, const std::vector<EventPlace> &places,
                            const TaskBuilder &builder, ProgramQueue &queue) {
  ProgramStep step;
  step.order = instruction.order;
  step.name = nameOfInstruction(instruction);
  step.signals = instruction.signals;
  DS_ASSIGN_OR_RETURN(step.waits, resolveWaits(instruction.waits, section, places));
  DS_ASSIGN_OR_RETURN(step.task, builder.build(instruction));
  if (builder.findings) {
    DS_ASSIGN_OR_RETURN(step.task,
                        withNumberCheck(std::move(step.task), instruction, builder.bindings, *builder.findings));
  }
  queue.steps.push_back(std::move(step));
  return absl::OkStatus();
}

static absl::Status addQueue(uint32_t number, const std::vector<EventPlace> &places, Bindings &bindings,
                             NumberFindings *findings, Program &program) {
  const plan::QueueT &table = *bindings.plan().queues[number];
  program.queues.push_back(std::make_unique<ProgramQueue>());
  ProgramQueue &queue = *program.queues.back();
  queue.name = table.name;
  bindings.setScratch(&queue.scratch);
  const TaskBuilder builder{bindings, number, program.communicators, findings};
  int section = 0;
  for (const auto &instruction : table.instructions) {
    if (isMarker(*instruction)) {
      (section++ == 0 ? queue.bodyBegin : queue.bodyEnd) = queue.steps.size();
      continue;
    }
    if (absl::Status status = addStep(*instruction, section, places, builder, queue); !status.ok())
      return absl::Status(status.code(),
                          absl::StrCat("op ", nameOfInstruction(*instruction), ": ", std::string(status.message())));
  }
  if (section == 0)
    queue.bodyBegin = queue.bodyEnd = queue.steps.size();
  program.hasLoop |= section == 2;
  if (section != 0 && section != 2)
    return absl::InvalidArgumentError(
        absl::StrCat("invalid plan: queue \"", table.name, "\" must have one loop or none, got ", section, " markers"));
  return absl::OkStatus();
}

static absl::Status checkLoops(const plan::PlanT &plan, const Program &program) {
  for (const auto &queue : plan.queues) {
    size_t markers = 0;
    for (const auto &instruction : queue->instructions) {
      markers += isMarker(*instruction);
      const auto *begin = instruction->operation.AsLoopBegin();
      if (begin && begin->count != program.loopCount)
        return absl::InvalidArgumentError(
            absl::StrCat("invalid plan: loops must have one count, got ", program.loopCount, " and ", begin->count));
    }
    if ((markers > 0) != program.hasLoop)
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: queue \"", queue->name, "\" must have the loop that others have"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> ds::runtime::buildProgram(Bindings &bindings, Transport &transport, NumberFindings *findings) {
  const plan::PlanT &plan = bindings.plan();
  Program program;
  program.loopCount = bindings.loopCount();
  DS_RETURN_IF_ERROR(openCommunicators(plan, transport, program));
  DS_ASSIGN_OR_RETURN(const std::vector<EventPlace> places, placeEvents(plan));
  for (uint32_t number = 0; number < plan.queues.size(); ++number)
    DS_RETURN_IF_ERROR(addQueue(number, places, bindings, findings, program));
  DS_RETURN_IF_ERROR(checkLoops(plan, program));
  while (program.computeQueue < plan.queues.size() &&
         plan.queues[program.computeQueue]->kind != plan::QueueKind::Compute)
    ++program.computeQueue;
  if (program.computeQueue == plan.queues.size())
    return absl::InvalidArgumentError("invalid plan: one queue must be of kind compute, got none");
  return program;
}
