// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Instructions of a plan to tasks.

#ifndef DS_RUNTIME_STEP_BUILDTASK_H
#define DS_RUNTIME_STEP_BUILDTASK_H

#include "Program.h"

namespace ds::runtime {

/// Makes the tasks of one queue.
struct TaskBuilder {
  const Bindings &bindings;
  uint32_t queue;
  const std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Communicator>> &communicators;
  NumberFindings *findings = nullptr; ///< of buildProgram

  TaskOr build(const plan::InstructionT &instruction) const;

private:
  TaskOr buildCollective(const plan::CollectiveT &collective, const std::string &name) const;
  Communicator &communicatorAlong(uint32_t axis) const { return *communicators.at({queue, axis}); }
};

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_BUILDTASK_H
