// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// One rank's life: data, initial values, steps, results.

#ifndef DS_RUNTIME_SESSION_SESSION_H
#define DS_RUNTIME_SESSION_SESSION_H

#include "ds/Runtime/Executor.h"
#include "ds/Runtime/Job.h"
#include "ds/Runtime/Session/DataSource.h"
#include "ds/Runtime/Session/VariableFiles.h"

namespace ds::runtime {

/// Variables to write at the end. `descriptor` is a file that all ranks have open.
struct SaveRequest {
  std::set<plan::VariableRole> roles;
  int descriptor = -1;
};

/// Where output `output` (a number of plan::Plan.outputs) goes: an .npy file `[steps, ...]` that all ranks have open.
struct OutputRequest {
  size_t output = 0;
  int descriptor = -1;
};

struct SessionOptions {
  std::string modelFolder; ///< where the plan's FileRanges are
  std::string dataPath;    ///< see openData; empty: the plan has no inputs of data
  std::optional<ElementType> tokenType;
  std::string loadModel; ///< a .safetensors file in place of the model's own values; empty: none
  int64_t steps = 1;
  std::function<double(int64_t step)> learningRate; ///< for the input of that name
  int64_t stopAfterBadSteps = 0; ///< ends a training after so many bad steps in a row, see StepRecord; 0: never
  ExecutorOptions executor;
  std::vector<SaveRequest> saves;
  std::vector<OutputRequest> outputs;
  int profileDescriptor = -1; ///< a file for rank 0's trace of the last step (Profile.h); needs executor.collectTimings
};

/// What a rank takes of the machine; bytes.
struct MemoryUse {
  int64_t plannedArena = 0;
  int64_t arena = 0;
  int64_t library = 0; ///< Executor::libraryBytes
  int64_t resident = 0;
  int64_t peakResident = 0;
};

/// What rank 0 knows after a step. Values that the plan does not give are absent.
struct StepRecord {
  int64_t step = 0;
  std::optional<double> loss, gradientNorm, learningRate;
  double seconds = 0;

  /// Whether loss or gradient norm is NaN or infinite. In a training such a step has changed no variable, unless
  /// SessionOptions::stopAfterBadSteps is 0.
  bool isBad() const;
};

/// Called on the thread of runSession.
class SessionEvents {
public:
  virtual ~SessionEvents() = default;
  /// The rank has its memory and values, and waits for the others.
  virtual void onReady(const MemoryUse &memory) = 0;
  /// After each step, on rank 0.
  virtual void onStep(const StepRecord &record) = 0;
  /// Something that the user should know.
  virtual void onNote(const std::string &text) = 0;
};

/// How a session ended.
struct SessionResult {
  int64_t steps = 0;       ///< done
  bool wasStopped = false; ///< the job was asked to end before all steps were done; nothing was saved
  /// On rank 0, of code kNumericStop: the steps have been bad to the end. Variables are those after `lastGoodStep`.
  absl::Status numericStop;
  int64_t lastGoodStep = -1; ///< on rank 0; -1: none was good
  MemoryUse memory;
};

/// Runs `plan`, which must have passed check(), as a rank of `job`. All ranks call it with equal arguments.
absl::StatusOr<SessionResult> runSession(const plan::PlanT &plan, Job &job, const SessionOptions &options,
                                         SessionEvents &events);

/// The bytes of the file that an output of `steps` steps becomes.
int64_t outputBytes(const plan::PortT &port, int64_t steps);

/// The sum of the plan's arenas, in bytes.
int64_t plannedArenaBytes(const plan::PlanT &plan);

/// Resident memory of this process now and at its peak, and how much of it now is memory that can be shared; in bytes,
/// zeros where the system does not say.
struct ResidentBytes {
  int64_t now = 0, peak = 0, shared = 0;
};
ResidentBytes residentBytes();

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_SESSION_H
