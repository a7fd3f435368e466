// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Vector clocks: a step's clock says for each queue how many of its instructions have ended before the step starts.
/// Steps are visited in the order of the schedule, so that whatever happens before a step was visited before it. For
/// each byte the last write and the reads since are known; a step must happen after those that it conflicts with. Older
/// accesses need no look: the last write has already been shown to happen after them.
///
/// One iteration of the loop stands for all: all queues meet between two iterations.

#include "Checks.h"

#include <algorithm>

using namespace ds::plan;

namespace {
/// By queue, the number of its instructions that have ended.
using Clock = std::vector<uint32_t>;

/// Happens-before, step by step.
class Clocks {
public:
  explicit Clocks(const PlanT &plan)
      : ofQueue(plan.queues.size(), Clock(plan.queues.size(), 0)), ofEvent(plan.events),
        barrier(plan.queues.size(), 0) {}

  /// The clock at the start of `step`. Steps must come in the order of the schedule.
  const Clock &start(const Step &step);
  /// Ends the step started last.
  void end(const Step &step);

private:
  static void join(Clock &into, const Clock &other) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = std::max(into[i], other[i]);
  }

  std::vector<Clock> ofQueue; ///< after the last step of each queue
  std::vector<Clock> ofEvent; ///< when it is signalled; 4 bytes per event and queue
  Clock barrier;              ///< all that has ended so far
  Section section = Section::Before;
};

/// The accesses to one range of bytes since it was last written.
struct ByteState {
  const Step *write = nullptr;
  std::vector<const Step *> reads = {}; ///< the last one of each queue
};

/// The states of all bytes of one arena, as ranges that start at the keys.
class ByteMap {
public:
  ByteMap() { ranges[0]; }

  /// Calls `visit(state)` for all ranges of [begin, end), which it splits at its ends.
  template <typename Visit> void visit(uint64_t begin, uint64_t end, Visit visit) {
    auto first = splitAt(begin), last = splitAt(end);
    for (; first != last; ++first)
      visit(first->second);
  }
  /// Makes [begin, end) one range, last written by `step`.
  void write(uint64_t begin, uint64_t end, const Step &step) {
    auto first = splitAt(begin), last = splitAt(end);
    first->second = ByteState{&step};
    ranges.erase(std::next(first), last);
  }

private:
  std::map<uint64_t, ByteState>::iterator splitAt(uint64_t offset) {
    auto next = ranges.lower_bound(offset);
    if (next != ranges.end() && next->first == offset)
      return next;
    return ranges.emplace_hint(next, offset, std::prev(next)->second);
  }

  std::map<uint64_t, ByteState> ranges;
};

class RaceCheck {
public:
  explicit RaceCheck(const PlanT &plan) : plan(plan), clocks(plan), arenas(plan.arenas.size()) {}
  absl::Status visit(const Step &step);

private:
  absl::Status checkAccess(const Step &step, const Access &access, const Clock &clock);
  void record(const Step &step, const Access &access);
  absl::Status race(const Step &earlier, const Step &later, uint32_t buffer) const;

  const PlanT &plan;
  Clocks clocks;
  std::vector<ByteMap> arenas;
};
} // namespace

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

const Clock &Clocks::start(const Step &step) {
  Clock &clock = ofQueue[step.queue];
  // Entering a section behind a marker: all queues have met.
  if (step.section != section) {
    section = step.section;
    for (Clock &other : ofQueue)
      join(other, barrier);
  }
  for (uint32_t event : step.instruction->waits)
    join(clock, ofEvent[event]);
  return clock;
}

void Clocks::end(const Step &step) {
  Clock &clock = ofQueue[step.queue];
  clock[step.queue] = step.index + 1;
  barrier[step.queue] = step.index + 1;
  for (uint32_t event : step.instruction->signals)
    ofEvent[event] = clock;
}

/// Whether `earlier` has ended at `clock`.
static bool hasEnded(const Step &earlier, const Clock &clock) { return clock[earlier.queue] > earlier.index; }

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

absl::Status RaceCheck::race(const Step &earlier, const Step &later, uint32_t buffer) const {
  return invalidPlan("race: ", stepName(plan, earlier), " and ", stepName(plan, later), " both use the bytes of ",
                     bufferName(plan, buffer), ", one of them writes, and no queue or event puts one before the other");
}

absl::Status RaceCheck::checkAccess(const Step &step, const Access &access, const Clock &clock) {
  const BufferT &buffer = *plan.buffers[access.buffer];
  const Step *rival = nullptr;
  arenas[buffer.arena].visit(buffer.offset, buffer.offset + buffer.bytes, [&](const ByteState &state) {
    if (state.write && !hasEnded(*state.write, clock))
      rival = state.write;
    for (const Step *read : state.reads)
      if (access.writes && !hasEnded(*read, clock))
        rival = read;
  });
  return rival ? race(*rival, step, access.buffer) : absl::OkStatus();
}

void RaceCheck::record(const Step &step, const Access &access) {
  const BufferT &buffer = *plan.buffers[access.buffer];
  ByteMap &bytes = arenas[buffer.arena];
  uint64_t begin = buffer.offset, end = buffer.offset + buffer.bytes;
  if (access.writes)
    return bytes.write(begin, end, step);
  bytes.visit(begin, end, [&](ByteState &state) {
    auto sameQueue = std::find_if(state.reads.begin(), state.reads.end(),
                                  [&](const Step *read) { return read->queue == step.queue; });
    if (sameQueue != state.reads.end())
      *sameQueue = &step;
    else
      state.reads.push_back(&step);
  });
}

absl::Status RaceCheck::visit(const Step &step) {
  const Clock &clock = clocks.start(step);
  auto isEmpty = [&](const Access &access) { return plan.buffers[access.buffer]->bytes == 0; };
  for (const Access &access : step.accesses)
    if (!isEmpty(access))
      DS_RETURN_IF_ERROR(checkAccess(step, access, clock));
  // Reads first: a write forgets them, and by then the step itself is the last write.
  for (bool writes : {false, true})
    for (const Access &access : step.accesses)
      if (access.writes == writes && !isEmpty(access))
        record(step, access);
  clocks.end(step);
  return absl::OkStatus();
}

absl::Status ds::plan::checkRaces(const PlanT &plan, const Program &program) {
  RaceCheck check(plan);
  for (const Step &step : program.steps)
    DS_RETURN_IF_ERROR(check.visit(step));
  return absl::OkStatus();
}
