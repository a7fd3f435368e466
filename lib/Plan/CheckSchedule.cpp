// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Why an acyclic graph of one rank's queues and events is enough: all ranks execute the same program, and the
/// collectives of each group stand on one queue. So the k-th collective of a group is the same instruction on all its
/// members, and merging the matched ones of all ranks into one node each gives the graph of one rank again. An order of
/// that graph is an order in which all ranks can proceed together; nobody ever waits for a peer that waits for him.

#include "Checks.h"

#include <algorithm>
#include <set>

using namespace ds::plan;

static constexpr uint32_t kNone = UINT32_MAX;

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// The step that signals each event, each exactly once.
static absl::StatusOr<std::vector<uint32_t>> findSignallers(const PlanT &plan, const Program &program) {
  std::vector<uint32_t> signaller;
  // Not before it is known to be small: an event needs 4 bytes of the file at least.
  size_t signals = 0;
  for (const Step &step : program.steps)
    signals += step.instruction->signals.size();
  if (plan.events > signals)
    return invalidPlan("each event must be signalled once, got ", signals, " signals for ", plan.events, " events");
  signaller.resize(plan.events, kNone);
  for (uint32_t i = 0; i < program.steps.size(); ++i)
    for (uint32_t event : program.steps[i].instruction->signals) {
      if (event >= plan.events)
        return invalidPlan(stepName(plan, program.steps[i]), " signals unknown event ", event);
      if (signaller[event] != kNone)
        return invalidPlan("event ", event, " must be signalled once, got ",
                           stepName(plan, program.steps[signaller[event]]), " and ", stepName(plan, program.steps[i]));
      signaller[event] = i;
    }
  for (uint32_t event = 0; event < plan.events; ++event)
    if (signaller[event] == kNone)
      return invalidPlan("event ", event, " is never signalled");
  return signaller;
}

static absl::Status checkWaits(const PlanT &plan, const Program &program, const std::vector<uint32_t> &signaller) {
  for (const Step &step : program.steps)
    for (uint32_t event : step.instruction->waits) {
      if (event >= plan.events)
        return invalidPlan(stepName(plan, step), " waits for unknown event ", event);
      const Step &other = program.steps[signaller[event]];
      if (other.section != step.section)
        return invalidPlan(stepName(plan, step), " must wait for events of its own side of the loop, got event ", event,
                           " of ", stepName(plan, other));
    }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

namespace {
/// What waits for what: one node per step, all LoopBegins merged into the first of them, and so the LoopEnds.
class WaitGraph {
public:
  WaitGraph(const Program &program, const std::vector<uint32_t> &signaller);
  /// The steps of a cycle, each waiting for the next; empty if there is none. O(steps + waits).
  std::vector<uint32_t> findCycle() const;

private:
  std::vector<uint32_t> walkCycle(const std::vector<bool> &isDone) const;

  std::vector<uint32_t> node;                  ///< of each step
  std::vector<std::vector<uint32_t>> waitsFor; ///< nodes, by node
};
} // namespace

WaitGraph::WaitGraph(const Program &program, const std::vector<uint32_t> &signaller)
    : node(program.steps.size()), waitsFor(program.steps.size()) {
  uint32_t begin = kNone, end = kNone;
  for (uint32_t i = 0; i < node.size(); ++i) {
    node[i] = i;
    Section section = program.steps[i].section;
    if (section == Section::Begin || section == Section::End) {
      uint32_t &merged = section == Section::Begin ? begin : end;
      merged = std::min(merged, i);
      node[i] = merged;
    }
  }
  for (uint32_t i = 0; i < node.size(); ++i) {
    std::vector<uint32_t> &waits = waitsFor[node[i]];
    if (program.steps[i].index > 0)
      waits.push_back(node[i - 1]);
    for (uint32_t event : program.steps[i].instruction->waits)
      waits.push_back(node[signaller[event]]);
  }
}

std::vector<uint32_t> WaitGraph::findCycle() const {
  // Kahn: nodes become done when all that they wait for is done.
  std::vector<std::vector<uint32_t>> waiters(node.size());
  std::vector<size_t> missing(node.size());
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < node.size(); ++i) {
    missing[i] = waitsFor[i].size();
    for (uint32_t other : waitsFor[i])
      waiters[other].push_back(i);
    if (missing[i] == 0)
      ready.push_back(i);
  }
  std::vector<bool> isDone(node.size(), false);
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    uint32_t next = ready.back();
    ready.pop_back();
    isDone[next] = true;
    for (uint32_t waiter : waiters[next])
      if (--missing[waiter] == 0)
        ready.push_back(waiter);
  }
  return done == node.size() ? std::vector<uint32_t>{} : walkCycle(isDone);
}

/// Each node that is not done waits for another such node, so that a walk along them returns to where it was.
std::vector<uint32_t> WaitGraph::walkCycle(const std::vector<bool> &isDone) const {
  std::vector<uint32_t> path;
  std::vector<uint32_t> place(node.size(), kNone);
  uint32_t next = static_cast<uint32_t>(std::find(isDone.begin(), isDone.end(), false) - isDone.begin());
  while (place[next] == kNone) {
    place[next] = static_cast<uint32_t>(path.size());
    path.push_back(next);
    next = *std::find_if(waitsFor[next].begin(), waitsFor[next].end(), [&](uint32_t other) { return !isDone[other]; });
  }
  return {path.begin() + place[next], path.end()};
}

static absl::Status checkDeadlock(const PlanT &plan, const Program &program, const std::vector<uint32_t> &signaller) {
  std::vector<uint32_t> cycle = WaitGraph(program, signaller).findCycle();
  if (cycle.empty())
    return absl::OkStatus();
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < cycle.size() && i < kShown; ++i)
    absl::StrAppend(&text, stepName(plan, program.steps[cycle[i]]), " waits for ");
  if (cycle.size() > kShown)
    absl::StrAppend(&text, cycle.size() - kShown, " more, the last of which waits for ");
  return invalidPlan("deadlock: ", text, "the first");
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// That the instructions of each group of ranks (along one axis, or all ranks for a Remap) stand on one queue.
static absl::Status checkGroupQueues(const PlanT &plan, const Program &program) {
  constexpr int kAllRanks = -1;
  std::map<int, const Step *> firstOf;
  for (const Step &step : program.steps) {
    const auto *collective = operationAs<CollectiveT>(*step.instruction);
    if (!collective && !operationAs<RemapT>(*step.instruction))
      continue;
    int group = collective ? collective->axis : kAllRanks;
    const Step &first = *firstOf.emplace(group, &step).first->second;
    if (first.queue != step.queue)
      return invalidPlan("collectives over ", collective ? "axis \"" + plan.mesh[group]->name + "\"" : "all ranks",
                         " must be on one queue, got ", stepName(plan, first), " and ", stepName(plan, step));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// That `order` sorts the program into a schedule: then a step only waits for steps before it.
static absl::Status checkOrder(const PlanT &plan, const Program &program, const std::vector<uint32_t> &signaller) {
  for (size_t i = 1; i < program.steps.size(); ++i)
    if (program.steps[i].index > 0 && program.steps[i].order() <= program.steps[i - 1].order())
      return invalidPlan(stepName(plan, program.steps[i]), " must have an order above ", program.steps[i - 1].order(),
                         ", got ", program.steps[i].order());
  for (const Step &step : program.steps)
    for (uint32_t event : step.instruction->waits)
      if (program.steps[signaller[event]].order() >= step.order())
        return invalidPlan(stepName(plan, step), " with order ", step.order(), " waits for ",
                           stepName(plan, program.steps[signaller[event]]), ", which must have a lower order, got ",
                           program.steps[signaller[event]].order());
  return absl::OkStatus();
}

/// Of the sorted program: no order twice, and nothing inside the loop that stands before or behind its markers.
static absl::Status checkSorted(const PlanT &plan, const Program &program) {
  for (size_t i = 1; i < program.steps.size(); ++i) {
    const Step &before = program.steps[i - 1], &step = program.steps[i];
    if (before.order() == step.order())
      return invalidPlan(stepName(plan, before), " and ", stepName(plan, step), " have the same order ", step.order());
    if (before.section > step.section)
      return invalidPlan(stepName(plan, step), " must have an order below that of ", stepName(plan, before),
                         ", which stands further in the loop, got ", step.order());
  }
  return absl::OkStatus();
}

absl::Status ds::plan::checkSchedule(const PlanT &plan, Program &program) {
  absl::StatusOr<std::vector<uint32_t>> signaller = findSignallers(plan, program);
  if (!signaller.ok())
    return signaller.status();
  DS_RETURN_IF_ERROR(checkWaits(plan, program, *signaller));
  DS_RETURN_IF_ERROR(checkDeadlock(plan, program, *signaller));
  DS_RETURN_IF_ERROR(checkGroupQueues(plan, program));
  DS_RETURN_IF_ERROR(checkOrder(plan, program, *signaller));
  std::sort(program.steps.begin(), program.steps.end(),
            [](const Step &a, const Step &b) { return a.order() < b.order(); });
  return checkSorted(plan, program);
}
