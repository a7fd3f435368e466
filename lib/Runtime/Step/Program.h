// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A plan's queues, resolved for one rank: what the executor walks through in a step.

#ifndef DS_RUNTIME_STEP_PROGRAM_H
#define DS_RUNTIME_STEP_PROGRAM_H

#include "ds/Runtime/Collective.h"
#include "ds/Runtime/Device/Task.h"

#include <map>

namespace ds::runtime {

class NumberFindings;

struct ProgramStep {
  std::unique_ptr<Task> task;
  std::vector<uint32_t> waits; ///< events of the same section; those of earlier ones are behind a meeting of all queues
  std::vector<uint32_t> signals;
  uint32_t order = 0;
  std::string name;
};

/// A queue has three sections: before the loop, the loop's body, after it. Without a loop all is before it.
struct ProgramQueue {
  std::string name;
  std::vector<ProgramStep> steps;
  size_t bodyBegin = 0, bodyEnd = 0; ///< [0, bodyBegin), [bodyBegin, bodyEnd), [bodyEnd, size)
  ScratchSpace scratch;
};

struct Program {
  std::vector<std::unique_ptr<ProgramQueue>> queues;
  size_t computeQueue = 0; ///< the one that runs on the caller's thread: the first of kind Compute
  bool hasLoop = false;
  int64_t loopCount = 1;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Communicator>> communicators; ///< by queue and axis
};

/// Resolves all instructions of the plan. Errors name the op.
/// `findings`: where instructions report NaN and infinities; null: they do not look.
absl::StatusOr<Program> buildProgram(Bindings &bindings, Transport &transport, NumberFindings *findings = nullptr);

/// The name of an instruction for people: its own, or its kind and order.
std::string nameOfInstruction(const plan::InstructionT &instruction);

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_PROGRAM_H
