// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The one shared memory object of a job whose ranks are processes of one machine. The launcher creates it without a
/// name and the ranks inherit its descriptor, so nothing is left behind however the job ends.

#ifndef DS_RUNTIME_COLLECTIVE_LOCAL_SHAREDJOB_H
#define DS_RUNTIME_COLLECTIVE_LOCAL_SHAREDJOB_H

#include "absl/status/statusor.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace ds::runtime {

/// How many ranks and groups a job has; fixes the size of its memory. Memory that no group touches costs nothing.
struct JobShape {
  int64_t ranks = 1;
  uint32_t queues = 1;         ///< numbers that Transport::open accepts
  uint32_t axes = 0;           ///< of the mesh
  int64_t slotBytes = 1 << 20; ///< one of the two staging slots of each rank in each group; a multiple of 4096
  int64_t arenaBytes = 0;      ///< memory of each rank that all ranks see, for Transport::takeArena
};

/// A number that only grows (modulo 2^32) and that other processes wait for.
struct alignas(64) SharedCounter {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> waiters{0};

  /// Sets the value and wakes the processes that wait.
  void advance(uint32_t to);
  /// Whether the value has reached `target`.
  bool reached(uint32_t target) const {
    return static_cast<int32_t>(value.load(std::memory_order_acquire) - target) >= 0;
  }
  /// Sleeps until the value may have changed from below `target`, at most `milliseconds`.
  void sleepBelow(uint32_t target, int milliseconds);
};

/// What one rank tells the others of its group in one (queue, axis): counters of chunks, in lock step.
struct ChannelState {
  SharedCounter published; ///< chunks that this rank has put into its slots
  SharedCounter reduced;   ///< chunks whose own part it has reduced
  SharedCounter consumed;  ///< chunks that it has read from all others
  alignas(64) int64_t chunks[2] = {
      0, 0}; ///< of `exchange`: the chunks that this rank's pieces need, by parity of the call
};

/// What a rank shows to the launcher.
struct alignas(64) RankState {
  static constexpr size_t kNameBytes = 240;
  SharedCounter arrivals;               ///< at the barriers of the job
  std::atomic<int64_t> step{-1};        ///< in progress; -1: not begun
  std::atomic<int64_t> number{0};       ///< of Job::findLowest
  std::atomic<uint32_t> nameVersion{0}; ///< odd while `name` is being written
  char name[kNameBytes] = {};           ///< the last collective that the rank entered

  void setName(const std::string &text);
  /// The name, or an empty string if it is just being written.
  std::string readName() const;
};

/// What all ranks and the launcher share.
struct JobControl {
  alignas(64) std::atomic<uint32_t> aborted{0};
  alignas(64) std::atomic<uint32_t> stopRequested{0}; ///< the launcher wants no further step
  std::atomic<uint32_t> hasDiverged{0};               ///< rank 0 ends the training over numbers; valid with stopAt
  SharedCounter decided;                              ///< 1 + steps that rank 0 has decided upon
  std::atomic<int64_t> stopAt{INT64_MAX};             ///< the first step that will not be run; valid once decided
};

/// The mapping of the object in this process.
class SharedJob {
public:
  SharedJob(SharedJob &&other) noexcept;
  SharedJob &operator=(SharedJob &&) = delete;
  ~SharedJob();

  /// Creates the object; its descriptor closes on exec unless the launcher passes it on.
  static absl::StatusOr<SharedJob> create(const JobShape &shape);
  /// Maps the object that was inherited as `descriptor`, which this takes over.
  static absl::StatusOr<SharedJob> attach(int descriptor);

  const JobShape &shape() const;
  int descriptor() const { return fd; }
  JobControl &control() const;
  RankState &rankState(int64_t rank) const;
  /// For `axis` in [0, axes]; `axes` is the group of all ranks.
  ChannelState &channel(uint32_t queue, uint32_t axis, int64_t rank) const;
  char *slot(uint32_t queue, uint32_t axis, int64_t rank, uint32_t parity) const;
  /// The arenas of a rank, shape().arenaBytes bytes; a multiple of 2 MiB.
  char *arena(int64_t rank) const;

  /// Makes all waits in all processes end soon.
  void abort() const { control().aborted.store(1, std::memory_order_release); }
  /// Whether there are more ranks than cores, so that who waits must let others run.
  bool isCrowded() const { return crowded; }
  bool isAborted() const { return control().aborted.load(std::memory_order_acquire) != 0; }

private:
  SharedJob(int descriptor, char *memory, size_t bytes) : fd(descriptor), base(memory), mappedBytes(bytes) {}
  int64_t channelIndex(uint32_t queue, uint32_t axis, int64_t rank) const;

  int fd = -1;
  char *base = nullptr;
  size_t mappedBytes = 0;
  bool crowded = false;
};

enum class WaitResult { Reached, Aborted, TimedOut };

/// Spins for about `spinMicroseconds`, in a crowded job for a moment only, then sleeps, until `counter` reaches
/// `target`, the job is aborted, or about `timeoutMs` have passed (0: no limit). Time in which this process was stopped
/// does not count.
WaitResult waitFor(SharedCounter &counter, uint32_t target, const SharedJob &job, int spinMicroseconds,
                   int64_t timeoutMs = 0);

} // namespace ds::runtime

#endif // DS_RUNTIME_COLLECTIVE_LOCAL_SHAREDJOB_H
