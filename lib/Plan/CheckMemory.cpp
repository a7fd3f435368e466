// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

#include <algorithm>

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

static absl::Status checkLifetime(const PlanT &plan, const Step &step, const Access &access) {
  const BufferT &buffer = *plan.buffers[access.buffer];
  if (step.order() >= buffer.first && step.order() <= buffer.last)
    return absl::OkStatus();
  return invalidPlan(stepName(plan, step), " with order ", step.order(), " uses ", bufferName(plan, access.buffer),
                     step.order() < buffer.first ? " before its first use" : " after its last use",
                     ", got a life from ", buffer.first, " to ", buffer.last);
}

/// That each buffer is used in its life only, and that its first use writes it.
static absl::Status checkUses(const PlanT &plan, const Program &program) {
  std::vector<bool> isWritten(plan.buffers.size(), false);
  for (const auto &variable : plan.variables)
    isWritten[variable->buffer] = true;
  for (const auto &port : plan.inputs)
    isWritten[port->buffer] = true;
  for (const Step &step : program.steps) {
    for (const Access &access : step.accesses) {
      DS_RETURN_IF_ERROR(checkLifetime(plan, step, access));
      if (access.reads && !isWritten[access.buffer])
        return invalidPlan(stepName(plan, step), " reads ", bufferName(plan, access.buffer), " before it is written");
    }
    // A kernel may read what it writes through another argument: written only after all reads were looked at.
    for (const Access &access : step.accesses)
      if (access.writes)
        isWritten[access.buffer] = true;
  }
  for (const auto &port : plan.outputs)
    if (!isWritten[port->buffer])
      return invalidPlan("output \"", port->name, "\" is never written");
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

namespace {
/// The bytes and the life of one buffer.
struct Life {
  uint32_t buffer;
  uint32_t first, last; ///< both inclusive
  uint64_t begin, end;
};
} // namespace

/// The lives of the buffers of one arena in order of birth. What is alive when the loop begins and dies in it is needed
/// by the next iteration, and so lives to the loop's end.
static std::vector<Life> livesIn(const PlanT &plan, const Program &program, uint8_t arena) {
  std::vector<Life> lives;
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferT &buffer = *plan.buffers[i];
    if (buffer.arena != arena || buffer.bytes == 0)
      continue;
    uint32_t last = buffer.last;
    if (program.hasLoop && buffer.first <= program.loopBegin && last > program.loopBegin)
      last = std::max(last, program.loopEnd);
    lives.push_back({i, buffer.first, last, buffer.offset, buffer.offset + buffer.bytes});
  }
  std::sort(lives.begin(), lives.end(),
            [](const Life &a, const Life &b) { return std::pair(a.first, a.buffer) < std::pair(b.first, b.buffer); });
  return lives;
}

static absl::Status overlap(const PlanT &plan, uint32_t a, uint32_t b) {
  auto [low, high] = std::minmax(a, b);
  return invalidPlan("buffers ", low, " and ", high, " overlap while both are live (\"", plan.buffers[low]->name,
                     "\" and \"", plan.buffers[high]->name, "\")");
}

/// A sweep over time with the live buffers by offset. O(n log n).
static absl::Status checkOverlap(const PlanT &plan, const Program &program, uint8_t arena) {
  std::vector<Life> lives = livesIn(plan, program, arena);
  std::vector<const Life *> deaths;
  for (const Life &life : lives)
    deaths.push_back(&life);
  std::sort(deaths.begin(), deaths.end(), [](const Life *a, const Life *b) { return a->last < b->last; });

  std::map<uint64_t, const Life *> live; // by begin; disjoint
  size_t dead = 0;
  for (const Life &life : lives) {
    for (; dead < deaths.size() && deaths[dead]->last < life.first; ++dead)
      live.erase(deaths[dead]->begin);
    auto next = live.lower_bound(life.begin);
    if (next != live.end() && next->second->begin < life.end)
      return overlap(plan, life.buffer, next->second->buffer);
    if (next != live.begin() && std::prev(next)->second->end > life.begin)
      return overlap(plan, life.buffer, std::prev(next)->second->buffer);
    live.emplace(life.begin, &life);
  }
  return absl::OkStatus();
}

absl::Status ds::plan::checkMemory(const PlanT &plan, const Program &program) {
  DS_RETURN_IF_ERROR(checkUses(plan, program));
  for (size_t arena = 0; arena < plan.arenas.size() && arena <= UINT8_MAX; ++arena)
    DS_RETURN_IF_ERROR(checkOverlap(plan, program, static_cast<uint8_t>(arena)));
  return absl::OkStatus();
}
