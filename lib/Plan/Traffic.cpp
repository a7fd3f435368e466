// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Traffic.h"

#include "ds/Layout/Cast.h"
#include "ds/Plan/Extents.h"

#include <algorithm>

using namespace ds::plan;

namespace {
/// Kind and axis; -1 for all ranks.
using Group = std::pair<std::string, int>;

/// What one collective brings to one rank.
struct Load {
  Group group;
  double elements;
  double bytes;
  int64_t calls;
};
} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The elements of one segment that a rank with these extents and this coordinate receives.
static double receivedElements(const CollectiveT &collective, const SegmentT &segment, const ds::MeshAxis &axis,
                               int64_t coordinate, const std::vector<ExtentValue> &extents) {
  const double others = static_cast<double>(axis.size - 1) / static_cast<double>(axis.size);
  auto length = [&](uint32_t extent) { return static_cast<double>(extents[extent].length); };
  const ds::Interval whole{0, extents[segment.whole].length};
  const double piece = static_cast<double>(split(whole, axis, coordinate).length());
  switch (collective.kind) {
  case CollectiveKind::AllGather:
    return length(segment.outer) * (length(segment.whole) - piece) * length(segment.inner);
  case CollectiveKind::ReduceScatter:
    return others * length(segment.outer) * length(segment.whole) * length(segment.inner);
  case CollectiveKind::AllReduce:
    return 2 * others * length(segment.whole);
  case CollectiveKind::AllToAll:
    return others * length(segment.outer) * piece * length(segment.middle) * length(segment.scatter_whole) *
           length(segment.inner);
  }
  return 0;
}

static double remappedElements(const PlanT &plan, const RemapT &remap, const ds::Mesh &mesh) {
  ds::Layout from = layoutOf(plan, *remap.from), to = layoutOf(plan, *remap.to);
  ds::Cast cast{ds::CastKind::Remap, "", std::nullopt, std::nullopt, ds::ReduceKind::Sum, to};
  return ds::receivedElements(cast, from, remap.shape, mesh);
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

/// Calls visit(instruction, how often it runs per step) for all instructions, queue by queue.
template <typename Visit> static void forEachInstruction(const PlanT &plan, Visit visit) {
  for (const auto &queue : plan.queues) {
    int64_t times = 1;
    for (const auto &instruction : queue->instructions) {
      if (instruction->operation.type == Operation::LoopEnd)
        times = 1;
      visit(*instruction, times);
      if (const auto *loop = operationAs<LoopBeginT>(*instruction))
        times = loop->count;
    }
  }
}

int64_t ds::plan::loopCountOf(const PlanT &plan) {
  int64_t count = 1;
  forEachInstruction(plan, [&](const InstructionT &, int64_t times) { count = std::max(count, times); });
  return count;
}

/// The collectives of a step as `rank` sees them. Remaps are the same for all ranks.
static std::vector<Load> loadsOf(const PlanT &plan, const ds::Mesh &mesh, int64_t rank) {
  std::vector<Load> loads;
  const std::vector<ExtentValue> extents = evaluateExtents(plan, mesh, rank);
  forEachInstruction(plan, [&](const InstructionT &instruction, int64_t times) {
    const auto *collective = operationAs<CollectiveT>(instruction);
    if (!collective)
      return;
    const ds::MeshAxis &axis = mesh.axes()[collective->axis];
    const int64_t coordinate = mesh.coordinate(rank, axis.name);
    double elements = 0;
    for (const auto &segment : collective->segments)
      elements += receivedElements(*collective, *segment, axis, coordinate, extents);
    elements *= static_cast<double>(times);
    loads.push_back({{std::string(nameOf(collective->kind)), collective->axis},
                     elements,
                     elements * static_cast<double>(sizeOf(collective->type)),
                     times});
  });
  return loads;
}

static std::vector<Load> remapLoads(const PlanT &plan, const ds::Mesh &mesh) {
  std::vector<Load> loads;
  forEachInstruction(plan, [&](const InstructionT &instruction, int64_t times) {
    if (const auto *remap = operationAs<RemapT>(instruction)) {
      double elements = remappedElements(plan, *remap, mesh) * static_cast<double>(times);
      loads.push_back({{"remap", -1}, elements, elements * static_cast<double>(sizeOf(remap->type)), times});
    }
  });
  return loads;
}

/// Sums the loads of each rank by `keyOf(group)` and keeps the largest sums.
template <typename KeyOf> static auto largestLoads(const PlanT &plan, KeyOf keyOf) {
  using Key = decltype(keyOf(Group()));
  const ds::Mesh mesh = meshOf(plan);
  std::map<Key, Traffic> largest;
  auto take = [&](const std::vector<Load> &loads) {
    std::map<Key, Traffic> sums;
    for (const Load &load : loads) {
      Traffic &sum = sums[keyOf(load.group)];
      sum.elements += load.elements;
      sum.bytes += load.bytes;
      sum.calls += load.calls;
    }
    for (const auto &[key, sum] : sums) {
      Traffic &most = largest[key];
      most.elements = std::max(most.elements, sum.elements);
      most.bytes = std::max(most.bytes, sum.bytes);
      most.calls = sum.calls;
    }
  };
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    take(loadsOf(plan, mesh, rank));
  take(remapLoads(plan, mesh));
  return largest;
}

std::vector<Traffic> ds::plan::trafficOf(const PlanT &plan) {
  std::vector<Traffic> list;
  for (auto &[group, traffic] : largestLoads(plan, [](const Group &group) { return group; })) {
    list.push_back(traffic);
    list.back().kind = group.first;
    list.back().axis = group.second < 0 ? "" : plan.mesh[group.second]->name;
  }
  return list;
}

std::map<std::string, double> ds::plan::receivedElements(const PlanT &plan) {
  std::map<std::string, double> elements;
  for (const auto &[kind, traffic] : largestLoads(plan, [](const Group &group) { return group.first; }))
    elements[kind] = traffic.elements;
  return elements;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {
/// An instruction and the queue that it stands on.
struct Entry {
  uint32_t queue;
  const InstructionT *instruction;
};
} // namespace

static std::vector<Entry> scheduleOf(const PlanT &plan) {
  std::vector<Entry> schedule;
  for (uint32_t queue = 0; queue < plan.queues.size(); ++queue)
    for (const auto &instruction : plan.queues[queue]->instructions)
      schedule.push_back({queue, instruction.get()});
  std::sort(schedule.begin(), schedule.end(),
            [](const Entry &a, const Entry &b) { return a.instruction->order < b.instruction->order; });
  return schedule;
}

double ds::plan::predictedSeconds(const PlanT &plan) {
  std::vector<double> queueEnd(plan.queues.size(), 0), eventEnd(plan.events, 0);
  const double loopCount = static_cast<double>(loopCountOf(plan));
  double end = 0;     // of all instructions so far
  double meeting = 0; // when all queues met last
  Operation last = Operation::NONE;
  for (const Entry &entry : scheduleOf(plan)) {
    const InstructionT &instruction = *entry.instruction;
    const Operation type = instruction.operation.type;
    // The markers of all queues stand together in the schedule: the first of them is the meeting.
    if (type == Operation::LoopBegin && last != type)
      meeting = end;
    if (type == Operation::LoopEnd && last != type)
      meeting = end = meeting + (end - meeting) * loopCount;
    last = type;
    double start = std::max(queueEnd[entry.queue], meeting);
    for (uint32_t event : instruction.waits)
      start = std::max(start, eventEnd[event]);
    queueEnd[entry.queue] = start + instruction.seconds;
    for (uint32_t event : instruction.signals)
      eventEnd[event] = queueEnd[entry.queue];
    end = std::max(end, queueEnd[entry.queue]);
  }
  return end;
}
