// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What ranks do together beside collectives. Implementations: LocalJob (processes of one machine).

#ifndef DS_RUNTIME_JOB_H
#define DS_RUNTIME_JOB_H

#include "ds/Layout/Mesh.h"
#include "ds/Runtime/Collective.h"

namespace ds::runtime {

enum class StepDecision {
  Run,
  Stop,     ///< the job was asked to end before the step
  Diverged, ///< rank 0 ends the training over numbers
};

/// One rank's place in a job. All ranks make the same calls in the same order. Those that wait fail with Unavailable if
/// the job is ended meanwhile, and with DeadlineExceeded if another rank does not come.
class Job {
public:
  virtual ~Job() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;

  /// The rank's collectives over the axes of `mesh`. The job must outlive them.
  virtual std::unique_ptr<Transport> createTransport(const Mesh &mesh) = 0;

  /// Waits until all ranks have come here.
  virtual absl::Status meet() = 0;
  /// Whether `step` is run: rank 0 decides without waiting, and ends the training if it says that it has diverged.
  /// Ranks ask about one step after the other, from 0.
  virtual absl::StatusOr<StepDecision> decide(int64_t step, bool hasDiverged) = 0;
  /// The rank that gives the lowest number; of equal ones the first.
  virtual absl::StatusOr<int64_t> findLowest(int64_t number) = 0;
  /// Shows those who watch the job that the rank begins a step.
  virtual void showStep(int64_t step) = 0;

  /// Whether all ranks see the arenas that transports of the job give.
  virtual bool sharesArenas() const = 0;
  /// Where `other` has in its arenas what this rank has at `own` in its own ones, if they are shared.
  virtual const void *findOnRank(int64_t other, const void *own) const = 0;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_JOB_H
