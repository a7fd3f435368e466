// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Arena.h"

#include "ds/Passes/Solvers/ArenaPacking.h"
#include "ds/Plan/Access.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace ds;

/// The runtime takes whole pages.
static constexpr uint64_t kPageBytes = 4096;

namespace {
struct Lifetime {
  uint32_t first = UINT32_MAX, last = 0;
  void include(uint32_t order) {
    first = std::min(first, order);
    last = std::max(last, order);
  }
};

/// The range of the loop's markers over all queues; empty if there is no loop.
struct LoopRange {
  uint32_t begin = UINT32_MAX, end = 0;
  bool contains(uint32_t order) const { return begin <= order && order <= end; }
};
} // namespace

template <typename Fn> static void forEachInstruction(const plan::PlanT &plan, Fn fn) {
  for (const auto &queue : plan.queues)
    for (const auto &instruction : queue->instructions)
      fn(*instruction);
}

static LoopRange findLoop(const plan::PlanT &plan) {
  LoopRange loop;
  forEachInstruction(plan, [&](const plan::InstructionT &instruction) {
    if (instruction.operation.type == plan::Operation::LoopBegin)
      loop.begin = std::min(loop.begin, instruction.order);
    if (instruction.operation.type == plan::Operation::LoopEnd)
      loop.end = std::max(loop.end, instruction.order);
  });
  return loop;
}

static std::vector<Lifetime> findLifetimes(const plan::PlanT &plan, const std::vector<Storage> &storages) {
  std::vector<Lifetime> lifetimes(storages.size());
  uint32_t lastOrder = 0;
  forEachInstruction(plan, [&](const plan::InstructionT &instruction) {
    lastOrder = std::max(lastOrder, instruction.order);
    for (const plan::Access &access : plan::accessesOf(plan, instruction))
      lifetimes[access.buffer].include(instruction.order);
  });
  LoopRange loop = findLoop(plan);
  for (size_t id = 0; id < storages.size(); ++id) {
    Lifetime &lifetime = lifetimes[id];
    if (storages[id].isVariable || storages[id].isInput)
      lifetime.include(0);
    if (storages[id].isVariable || storages[id].isOutput)
      lifetime.include(lastOrder);
    if (lifetime.first == UINT32_MAX)
      lifetime = {0, 0};
    // What is live when the loop begins and used in it is needed by the next iteration, too.
    if (lifetime.first < loop.begin && loop.contains(lifetime.last))
      lifetime.last = loop.end;
  }
  return lifetimes;
}

static void reportPeak(plan::PlanT &plan, const std::vector<ArenaBuffer> &buffers, const ArenaPacking &packing) {
  auto report = std::make_unique<plan::PeakReportT>();
  report->peak_bytes = packing.bytes;
  report->lower_bound_bytes = packing.lowerBound;
  forEachInstruction(plan, [&](const plan::InstructionT &instruction) {
    if (instruction.order == packing.peakTime)
      report->instruction = instruction.name + " (instruction " + std::to_string(instruction.order) + ")";
  });
  std::vector<uint32_t> live;
  for (uint32_t id = 0; id < buffers.size(); ++id)
    if (buffers[id].first <= packing.peakTime && packing.peakTime <= buffers[id].last)
      live.push_back(id);
  llvm::stable_sort(live, [&](uint32_t a, uint32_t b) { return buffers[a].bytes > buffers[b].bytes; });
  for (uint32_t id : llvm::ArrayRef(live).take_front(10)) {
    auto tensor = std::make_unique<plan::LiveTensorT>();
    tensor->name = plan.buffers[id]->name;
    tensor->bytes = buffers[id].bytes;
    report->largest.push_back(std::move(tensor));
  }
  plan.peaks.push_back(std::move(report));
}

void ds::assignArena(plan::PlanT &plan, const std::vector<Storage> &storages) {
  std::vector<Lifetime> lifetimes = findLifetimes(plan, storages);
  std::vector<ArenaBuffer> buffers;
  for (size_t id = 0; id < storages.size(); ++id)
    buffers.push_back(
        {llvm::alignTo(storages[id].bytes, plan::kBufferAlignment), lifetimes[id].first, lifetimes[id].last});
  ArenaPacking packing = packArena(buffers);
  packing.bytes = llvm::alignTo(packing.bytes, kPageBytes);
  auto arena = std::make_unique<plan::ArenaT>();
  arena->name = "device";
  arena->bytes = packing.bytes;
  plan.arenas.push_back(std::move(arena));
  for (size_t id = 0; id < storages.size(); ++id) {
    auto buffer = std::make_unique<plan::BufferT>();
    buffer->name = storages[id].name;
    buffer->offset = packing.offsets[id];
    buffer->bytes = storages[id].bytes;
    buffer->first = lifetimes[id].first;
    buffer->last = lifetimes[id].last;
    plan.buffers.push_back(std::move(buffer));
  }
  reportPeak(plan, buffers, packing);
}
