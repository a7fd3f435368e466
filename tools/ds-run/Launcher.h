// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Starts the ranks of a job, listens to them, and ends them.

#ifndef DS_TOOLS_DS_RUN_LAUNCHER_H
#define DS_TOOLS_DS_RUN_LAUNCHER_H

#include "ExitCodes.h"
#include "Job.h"

#include "ds/Plan/Plan.h"

namespace ds {

/// Hears what the ranks do. Called on the launcher's thread.
class JobListener {
public:
  virtual ~JobListener() = default;
  virtual void onReady(int64_t rank, const runtime::MemoryUse &memory) = 0;
  virtual void onStep(const runtime::StepRecord &record) = 0;
  virtual void onNote(const std::string &text) = 0;
  virtual void onDone(int64_t rank, const runtime::MemoryUse &memory) = 0;
};

/// How a job ended.
struct JobResult {
  ExitCode code = kExitOk;
  std::string error;       ///< empty if the job ended well or was interrupted
  bool hasResults = false; ///< all ranks have done what they had to, and outputs may be committed
  int64_t steps = 0;       ///< done by rank 0
  int signal = 0;          ///< that was sent to end the job; 0: none
  bool wasStopped = false; ///< by it, before all steps were done; nothing was saved
  bool wasKilled = false;  ///< by a second signal
};

/// Runs a job to its end; afterwards no process of it is left. Fills in the job's descriptors except those of saves and
/// outputs, and passes those on. Signals INT, TERM, HUP and CHLD must be blocked (see SignalGuard).
JobResult runJob(const plan::PlanT &plan, Job job, JobListener &listener);

/// Blocks the signals that the launcher waits for, as long as it lives.
class SignalGuard {
public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard &) = delete;
  /// Becomes readable when one of them is pending.
  int descriptor() const { return fd; }
  /// The next pending signal, or 0.
  int take() const;

private:
  int fd = -1;
};

/// Ranks killed by a signal are named so: `killed by signal 9 (Killed)`.
std::string describeExit(int waitStatus);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_LAUNCHER_H
