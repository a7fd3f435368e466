// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Looks for the instruction that makes the first NaN or infinity of a step.

#ifndef DS_RUNTIME_STEP_NUMBERCHECK_H
#define DS_RUNTIME_STEP_NUMBERCHECK_H

#include "ds/Runtime/Device/Task.h"
#include "ds/Runtime/Executor.h"

#include <mutex>

namespace ds::runtime {

/// What the queues of one executor find. The first is that of the smallest iteration and order: the order of a plan
/// puts every instruction behind those it reads from, so no other one can have caused it.
class NumberFindings {
public:
  void add(const NonFiniteFinding &finding, bool isNan);
  void clear();
  FirstNonFinite first() const;

private:
  mutable std::mutex mutex;
  FirstNonFinite found; ///< guarded by mutex
};

/// `task` with a look at what it has written. Instructions that only move numbers are left as they are: they make none,
/// and may fill a tensor in parts. Fails if the plan does not say what the instruction writes.
TaskOr withNumberCheck(std::unique_ptr<Task> task, const plan::InstructionT &instruction, const Bindings &bindings,
                       NumberFindings &findings);

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_NUMBERCHECK_H
