// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Gate.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace ds::runtime;

static constexpr int kSpins = 128;           ///< a few microseconds
static constexpr long kSleepNs = 20'000'000; ///< a sleeper looks at the abort flag at least this often

static void pauseCore() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

static void futexWait(const std::atomic<uint32_t> &word, uint32_t seen) {
  const timespec limit{0, kSleepNs};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

void Gate::wakeAll() { syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

void Gate::wakeSleepers() {
  // Sequentially consistent with the waiter: either it sees the new number, or we see it asleep.
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    wakeAll();
}

void Gate::advanceTo(uint32_t next) {
  number.store(next, std::memory_order_seq_cst);
  wakeSleepers();
}

uint32_t Gate::add() {
  const uint32_t next = number.fetch_add(1, std::memory_order_seq_cst) + 1;
  wakeSleepers();
  return next;
}

bool Gate::waitFor(uint32_t target, const std::atomic<bool> &isAborted) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (hasReached(target))
      return true;
    pauseCore();
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  uint32_t seen = number.load(std::memory_order_seq_cst);
  while (static_cast<int32_t>(seen - target) < 0 && !isAborted.load(std::memory_order_relaxed)) {
    futexWait(number, seen);
    seen = number.load(std::memory_order_seq_cst);
  }
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
  return hasReached(target);
}

bool Barrier::meet(const std::atomic<bool> &isAborted) {
  const uint32_t round = rounds.value();
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < members)
    return rounds.waitFor(round + 1, isAborted);
  arrived.store(0, std::memory_order_relaxed);
  rounds.advanceTo(round + 1);
  return true;
}
