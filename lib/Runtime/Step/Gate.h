// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How the threads of one executor wait for each other.

#ifndef DS_RUNTIME_STEP_GATE_H
#define DS_RUNTIME_STEP_GATE_H

#include <atomic>
#include <cstdint>

namespace ds::runtime {

/// A number that only grows (modulo 2^32); threads wait until it reaches what they need. Waiters look for a few
/// microseconds, then sleep: several ranks may share a core, and the one that is waited for needs it.
class Gate {
public:
  /// Sets the number; only one thread at a time advances a gate.
  void advanceTo(uint32_t number);
  /// Adds 1 and returns the new number.
  uint32_t add();
  /// Returns true once the number has reached `target`, false if `isAborted` became true before.
  bool waitFor(uint32_t target, const std::atomic<bool> &isAborted);
  /// Lets waiters look at their abort flags at once.
  void wakeAll();
  uint32_t value() const { return number.load(std::memory_order_acquire); }

private:
  bool hasReached(uint32_t target) const { return static_cast<int32_t>(value() - target) >= 0; }
  void wakeSleepers();

  std::atomic<uint32_t> number{0};
  std::atomic<uint32_t> sleepers{0};
};

/// A meeting of a fixed number of threads, again and again.
class Barrier {
public:
  explicit Barrier(uint32_t members) : members(members) {}
  /// Returns true when all have arrived, false if `isAborted` became true before.
  bool meet(const std::atomic<bool> &isAborted);
  void wakeAll() { rounds.wakeAll(); }

private:
  const uint32_t members;
  std::atomic<uint32_t> arrived{0};
  Gate rounds;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_STEP_GATE_H
