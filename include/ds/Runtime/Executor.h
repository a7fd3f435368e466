// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Runs a plan's program on one rank, step by step.

#ifndef DS_RUNTIME_EXECUTOR_H
#define DS_RUNTIME_EXECUTOR_H

#include "ds/Runtime/Collective.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ds::runtime {

struct ExecutorOptions {
  int threads = 1;        ///< of the compute queue's pool, the calling thread included
  std::vector<int> cores; ///< to bind the pool's threads to, in turn; empty: left to the system
  /// An instruction or a wait that takes longer fails the step with DeadlineExceeded; 0: no limit.
  std::chrono::milliseconds timeout{0};
  /// Called once on a stall, from a thread of the executor, with the status that runStep will return if it can: a
  /// kernel that never returns cannot be stopped, so a tool should end the process some time after this.
  std::function<void(const absl::Status &)> onStall;
  bool collectTimings = false;
  bool findsNonFinite = false; ///< instructions look for NaN and infinities in what they write, see firstNonFinite
};

/// An instruction that wrote numbers that are not finite.
struct NonFiniteFinding {
  int64_t iteration = 0; ///< of the loop
  int64_t order = 0;     ///< of plan::Instruction; -1: the number was there before the step
  std::string op;        ///< its name for people
  int64_t count = 0;     ///< how many of its result's elements on this rank
  int64_t elements = 0;  ///< of that result

  std::pair<int64_t, int64_t> place() const { return {order < 0 ? -1 : iteration, order}; }
};

/// The first of either kind in a step, as the plan orders instructions.
struct FirstNonFinite {
  std::optional<NonFiniteFinding> nan, infinity;
};

/// Memory of the caller's, inside an arena.
struct BufferView {
  void *data = nullptr;
  size_t bytes = 0; ///< as reserved by the plan; a rank's valid elements may be fewer
};

/// Where a step's time went; one per instruction.
struct InstructionTiming {
  uint32_t queue = 0;
  uint32_t order = 0; ///< of plan::Instruction
  std::string name;
  double beginSeconds = 0; ///< when it began first, since the step's begin
  double seconds = 0;      ///< in all iterations of the last step, without waits
  double waitSeconds = 0;  ///< for its events
};

/// One rank's program with all pointers and extents resolved. Errors carry rank, step and op in their message
/// ("rank 1, step 3, op matmul.7: ..."). Not thread-safe, except for `abort`. After a failed step it can only be
/// destroyed.
class Executor {
public:
  /// Takes the arenas (faulted in, zeroed), loads the kernels, and prepares every instruction of `plan`, which must
  /// have passed plan check() and must outlive the executor. The thread that calls this should also call runStep.
  static absl::StatusOr<std::unique_ptr<Executor>> create(const plan::PlanT &plan, int64_t rank, Transport &transport,
                                                          const ExecutorOptions &options);
  virtual ~Executor() = default;

  /// The memory of a buffer of the plan (Port and Variable carry its id).
  virtual BufferView buffer(uint32_t id) const = 0;
  /// Bytes taken for all arenas.
  virtual size_t arenaBytes() const = 0;
  /// Bytes in which libraries work, beside the arenas (LibraryMemory.h).
  virtual size_t libraryBytes() const = 0;

  /// Runs all queues once; the compute queue on the calling thread.
  virtual absl::Status runStep() = 0;
  /// The number of steps done; `setStep` renames the next one (after a checkpoint), for errors only.
  virtual int64_t step() const = 0;
  virtual void setStep(int64_t step) = 0;
  virtual void setTimeout(std::chrono::milliseconds timeout) = 0;
  /// Ends the step in progress with Cancelled as soon as the instructions in progress allow. From any thread.
  virtual void abort() = 0;

  /// Of the last step; empty unless findsNonFinite.
  virtual FirstNonFinite firstNonFinite() const = 0;
  /// Of the last step; empty unless collectTimings.
  virtual std::vector<InstructionTiming> timings() const = 0;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_EXECUTOR_H
