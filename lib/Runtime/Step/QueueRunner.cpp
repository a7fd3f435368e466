// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "QueueRunner.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

QueueRunner::QueueRunner(const Program &program, size_t number, StepState &state)
    : program(program), queue(*program.queues[number]), state(state), progress(state.progress[number]),
      stepTimes(program.queues[number]->steps.size()) {}

absl::Status QueueRunner::runStep() {
  std::fill(stepTimes.begin(), stepTimes.end(), StepTime());
  uint32_t epoch = state.firstEpoch;
  DS_RETURN_IF_ERROR(runSection(0, queue.bodyBegin, epoch++, 0));
  for (int64_t loop = 0; program.hasLoop && loop < program.loopCount; ++loop) {
    if (!meetOthers())
      return absl::OkStatus();
    DS_RETURN_IF_ERROR(runSection(queue.bodyBegin, queue.bodyEnd, epoch++, loop));
  }
  if (program.hasLoop && !meetOthers())
    return absl::OkStatus();
  DS_RETURN_IF_ERROR(runSection(queue.bodyEnd, queue.steps.size(), epoch, 0));
  progress.publish(QueueState::Idle, 0, nowNs());
  return absl::OkStatus();
}

bool QueueRunner::meetOthers() {
  progress.publish(QueueState::Waiting, QueueProgress::kMeeting, nowNs());
  return state.meeting.meet(state.isAborted);
}

absl::Status QueueRunner::runSection(size_t begin, size_t end, uint32_t epoch, int64_t loopIndex) {
  for (size_t position = begin; position < end; ++position) {
    if (state.isAborted.load(std::memory_order_relaxed))
      return absl::OkStatus();
    if (absl::Status status = runOne(position, epoch, loopIndex); !status.ok())
      return absl::Status(status.code(),
                          absl::StrCat("op ", queue.steps[position].name, ": ", std::string(status.message())));
  }
  return absl::OkStatus();
}

absl::Status QueueRunner::runOne(size_t position, uint32_t epoch, int64_t loopIndex) {
  const ProgramStep &step = queue.steps[position];
  const int64_t arrived = nowNs();
  progress.publish(QueueState::Waiting, static_cast<uint32_t>(position), arrived);
  if (!waitForEvents(step, epoch))
    return absl::OkStatus();
  const int64_t begun = step.waits.empty() ? arrived : nowNs();
  progress.publish(QueueState::Running, static_cast<uint32_t>(position), begun);
  DS_RETURN_IF_ERROR(step.task->run({state.step.load(std::memory_order_relaxed), loopIndex}));
  for (uint32_t event : step.signals)
    state.events[event].advanceTo(epoch);
  StepTime &time = stepTimes[position];
  if (time.begin == 0)
    time.begin = begun;
  time.wait += begun - arrived;
  time.run += nowNs() - begun;
  return absl::OkStatus();
}

bool QueueRunner::waitForEvents(const ProgramStep &step, uint32_t epoch) {
  for (uint32_t event : step.waits)
    if (!state.events[event].waitFor(epoch, state.isAborted))
      return false;
  return true;
}
