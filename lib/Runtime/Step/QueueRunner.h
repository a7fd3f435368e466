// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Walks through one queue of a program.

#ifndef DS_RUNTIME_STEP_QUEUERUNNER_H
#define DS_RUNTIME_STEP_QUEUERUNNER_H

#include "Gate.h"
#include "Program.h"
#include "Progress.h"

namespace ds::runtime {

/// What the queues of one executor share. A step is a new epoch for the events, so nothing is reset: epochs are
/// numbered on through the sections of all steps (before the loop, each iteration, after it), and an event is signalled
/// once its gate has reached the epoch of the section.
struct StepState {
  explicit StepState(size_t events, size_t queues)
      : events(events), progress(queues), meeting(static_cast<uint32_t>(queues)) {}

  std::vector<Gate> events;
  std::vector<QueueProgress> progress;
  Barrier meeting;
  std::atomic<bool> isAborted{false};
  std::atomic<int64_t> step{0};
  uint32_t firstEpoch = 1; ///< of the step in progress; changes only between steps
};

/// Nanoseconds of one instruction in one step.
struct StepTime {
  int64_t begin = 0; ///< of its first run, on nowNs's clock
  int64_t run = 0, wait = 0;
};

class QueueRunner {
public:
  QueueRunner(const Program &program, size_t number, StepState &state);

  /// Runs the queue once. The error of the instruction that failed, with its op; ok also if the step was aborted
  /// elsewhere.
  absl::Status runStep();
  /// Per instruction, of the last step.
  const std::vector<StepTime> &times() const { return stepTimes; }

private:
  /// Instructions [begin, end) in the section of `epoch`.
  absl::Status runSection(size_t begin, size_t end, uint32_t epoch, int64_t loopIndex);
  absl::Status runOne(size_t position, uint32_t epoch, int64_t loopIndex);
  bool waitForEvents(const ProgramStep &step, uint32_t epoch);
  bool meetOthers();

  const Program &program;
  const ProgramQueue &queue;
  StepState &state;
  QueueProgress &progress;
  std::vector<StepTime> stepTimes;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_QUEUERUNNER_H
