// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What each queue is doing, for the watchdog to see.

#ifndef DS_RUNTIME_STEP_PROGRESS_H
#define DS_RUNTIME_STEP_PROGRESS_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ds::runtime {

inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

enum class QueueState : uint8_t { Idle, Waiting, Running };

/// Written by the queue's thread only.
struct alignas(64) QueueProgress {
  static constexpr uint32_t kMeeting = 0xFFFFFFFF; ///< in place of a position: waiting for the other queues at the loop

  void publish(QueueState next, uint32_t at, int64_t now) {
    position.store(at, std::memory_order_relaxed);
    state.store(next, std::memory_order_relaxed);
    sinceNs.store(now, std::memory_order_release);
  }

  std::atomic<int64_t> sinceNs{0};
  std::atomic<uint32_t> position{0}; ///< index into the queue's steps
  std::atomic<QueueState> state{QueueState::Idle};
};

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_PROGRESS_H
