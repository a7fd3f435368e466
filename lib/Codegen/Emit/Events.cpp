// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Instructions are visited in the order of the one schedule. For each byte range the latest reader and writer on every
// queue are known; a conflict with one on another queue becomes an event, unless vector clocks show that it is ordered
// already.

#include "Events.h"

#include "ds/Plan/Access.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace ds;

namespace {

/// The latest instruction of a queue: its place there, counted from 1; 0 is none.
using Clock = std::vector<uint32_t>;

/// A piece of the arena that is read and written as one, or less.
struct Range {
  uint64_t begin, end;
  Clock lastRead, lastWrite; ///< per queue
};

class EventAdder {
public:
  explicit EventAdder(plan::PlanT &plan) : plan(plan), queues(plan.queues.size()), known(queues, Clock(queues, 0)) {}

  void run() {
    std::vector<std::pair<size_t, uint32_t>> order = inOrder();
    for (auto [queue, place] : order)
      visit(queue, place);
    plan.events = events;
  }

private:
  std::vector<std::pair<size_t, uint32_t>> inOrder() {
    std::vector<std::pair<size_t, uint32_t>> order;
    for (size_t queue = 0; queue < queues; ++queue)
      for (uint32_t place = 0; place < plan.queues[queue]->instructions.size(); ++place)
        order.push_back({queue, place});
    llvm::sort(order,
               [&](const auto &a, const auto &b) { return at(a.first, a.second).order < at(b.first, b.second).order; });
    return order;
  }

  plan::InstructionT &at(size_t queue, uint32_t place) { return *plan.queues[queue]->instructions[place]; }

  void visit(size_t queue, uint32_t place) {
    plan::InstructionT &instruction = at(queue, place);
    if (instruction.operation.type == plan::Operation::LoopBegin ||
        instruction.operation.type == plan::Operation::LoopEnd)
      return meet(queue, place);
    Clock needed(queues, 0);
    std::vector<plan::Access> accesses = plan::accessesOf(plan, instruction);
    for (const plan::Access &access : accesses)
      forEachRange(access.buffer, [&](Range &range) {
        raise(needed, range.lastWrite);
        if (access.writes)
          raise(needed, range.lastRead);
      });
    for (size_t other = 0; other < queues; ++other)
      if (other != queue && needed[other] > known[queue][other])
        addEvent(other, needed[other] - 1, queue, place);
    known[queue][queue] = place + 1;
    afterInstruction[{queue, place}] = known[queue];
    for (const plan::Access &access : accesses)
      forEachRange(access.buffer, [&](Range &range) {
        Clock &last = access.writes ? range.lastWrite : range.lastRead;
        last[queue] = place + 1;
      });
  }

  /// At a loop marker all queues meet: everything before it on any queue is known to all.
  void meet(size_t queue, uint32_t place) {
    known[queue][queue] = place + 1;
    if (++markersMet % queues)
      return;
    Clock all(queues, 0);
    for (const Clock &clock : known)
      raise(all, clock);
    known.assign(queues, all);
  }

  static void raise(Clock &clock, const Clock &other) {
    for (size_t i = 0; i < clock.size(); ++i)
      clock[i] = std::max(clock[i], other[i]);
  }

  void addEvent(size_t fromQueue, uint32_t fromPlace, size_t toQueue, uint32_t toPlace) {
    plan::InstructionT &from = at(fromQueue, fromPlace);
    // An instruction signals one event at most, which all its waiters share.
    auto [it, isNew] = eventOf.try_emplace({fromQueue, fromPlace}, events);
    if (isNew) {
      from.signals.push_back(events);
      ++events;
    }
    at(toQueue, toPlace).waits.push_back(it->second);
    raise(known[toQueue], afterInstruction[{fromQueue, fromPlace}]);
  }

  /// Calls `fn` for the ranges that the buffer covers; cuts ranges at its ends first.
  template <typename Fn> void forEachRange(uint32_t buffer, Fn fn) {
    uint64_t begin = plan.buffers[buffer]->offset, end = begin + plan.buffers[buffer]->bytes;
    if (begin == end)
      return;
    cutAt(begin);
    cutAt(end);
    uint64_t place = begin;
    for (auto it = ranges.lower_bound(begin); place < end;) {
      if (it == ranges.end() || it->second.begin > place) {
        uint64_t stop = it == ranges.end() ? end : std::min(end, it->second.begin);
        it = ranges.emplace(place, Range{place, stop, Clock(queues, 0), Clock(queues, 0)}).first;
      }
      fn(it->second);
      place = it->second.end;
      ++it;
    }
  }

  void cutAt(uint64_t place) {
    auto it = ranges.upper_bound(place);
    if (it == ranges.begin())
      return;
    --it;
    Range &range = it->second;
    if (range.begin == place || range.end <= place)
      return;
    Range rest = range;
    rest.begin = place;
    range.end = place;
    ranges.emplace(place, rest);
  }

  plan::PlanT &plan;
  size_t queues;
  std::vector<Clock> known; ///< what each queue knows to have ended, on all queues
  std::map<std::pair<size_t, uint32_t>, Clock> afterInstruction;
  std::map<std::pair<size_t, uint32_t>, uint32_t> eventOf;
  std::map<uint64_t, Range> ranges; ///< by begin
  uint32_t events = 0;
  size_t markersMet = 0;
};

} // namespace

void ds::addEvents(plan::PlanT &plan) { EventAdder(plan).run(); }
