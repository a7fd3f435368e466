// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Notices that a step has stopped.

#ifndef DS_RUNTIME_STEP_WATCHDOG_H
#define DS_RUNTIME_STEP_WATCHDOG_H

#include "QueueRunner.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ds::runtime {

/// A thread that looks at the queues' progress a few times per timeout.
class Watchdog {
public:
  /// `onStall` is called, from the thread, once: with the op that has been running for longer than the timeout or, if
  /// all queues wait, the one that has been waiting longest.
  Watchdog(const Program &program, const StepState &state, std::function<void(const std::string &)> onStall);
  ~Watchdog();

  /// 0: no limit.
  void setTimeout(std::chrono::milliseconds timeout);

private:
  void watch();
  /// The queue to blame at `now`, or the number of queues.
  size_t findStalled(int64_t now, int64_t timeoutNs) const;
  std::string describe(size_t number, int64_t now) const;

  const Program &program;
  const StepState &state;
  const std::function<void(const std::string &)> onStall;
  std::mutex mutex;
  std::condition_variable changed;
  std::chrono::milliseconds timeout{0}; ///< guarded by mutex
  bool isClosing = false;               ///< guarded by mutex
  std::thread thread;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_WATCHDOG_H
