// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

#include <set>

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

static absl::Status checkWeights(const MeshAxisT &axis) {
  if (axis.weights.empty())
    return absl::OkStatus();
  if (axis.weights.size() != axis.size)
    return invalidPlan("axis \"", axis.name, "\" must have ", axis.size, " weights, got ", axis.weights.size());
  int64_t sum = 0;
  for (int64_t weight : axis.weights) {
    if (weight < 1 || weight > kMaxWeightSum)
      return invalidPlan("axis \"", axis.name, "\" must have weights in [1, ", kMaxWeightSum, "], got ", weight);
    sum += weight;
  }
  if (sum > kMaxWeightSum)
    return invalidPlan("axis \"", axis.name, "\" must have weights of at most ", kMaxWeightSum, " in sum, got ", sum);
  return absl::OkStatus();
}

static absl::Status checkMesh(const PlanT &plan) {
  std::set<std::string> names;
  int64_t ranks = 1;
  for (const auto &axis : plan.mesh) {
    if (!names.insert(axis->name).second)
      return invalidPlan("mesh has two axes \"", axis->name, "\"");
    if (axis->size < 1 || axis->size > kMaxRanks)
      return invalidPlan("axis \"", axis->name, "\" must have a size in [1, ", kMaxRanks, "], got ", axis->size);
    ranks *= axis->size;
    if (ranks > kMaxRanks)
      return invalidPlan("mesh must have at most ", kMaxRanks, " ranks");
    // Before the sum over a long list: weights.size() == size <= kMaxRanks.
    DS_RETURN_IF_ERROR(checkWeights(*axis));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

static absl::Status checkExtent(const PlanT &plan, const ExtentT &extent, size_t id) {
  std::set<uint16_t> used;
  auto checkAxes = [&](const std::vector<uint16_t> &axes) {
    for (uint16_t axis : axes) {
      if (axis >= plan.mesh.size())
        return invalidPlan("extent ", id, " refers to unknown axis ", axis);
      if (!used.insert(axis).second)
        return invalidPlan("extent ", id, " uses axis \"", plan.mesh[axis]->name, "\" twice");
    }
    return absl::OkStatus();
  };
  int64_t elements = 1;
  for (const auto &factor : extent.factors) {
    DS_RETURN_IF_ERROR(checkAxes(factor->axes));
    if (factor->size < 0)
      return invalidPlan("extent ", id, " must have factors >= 0, got ", factor->size);
    if (__builtin_mul_overflow(elements, std::max<int64_t>(factor->size, 1), &elements) || elements > kMaxElements)
      return invalidPlan("extent ", id, " must be at most ", kMaxElements);
  }
  return checkAxes(extent.flat);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static absl::Status checkArena(const ArenaT &arena) {
  if (arena.memory > MemoryTier::MAX)
    return invalidPlan("arena \"", arena.name, "\" has unknown memory tier ", static_cast<int>(arena.memory));
  if (arena.bytes > uint64_t(kMaxElements) * 8)
    return invalidPlan("arena \"", arena.name, "\" must have at most ", uint64_t(kMaxElements) * 8, " bytes, got ",
                       arena.bytes);
  return absl::OkStatus();
}

static absl::Status checkBuffer(const PlanT &plan, uint32_t id) {
  const BufferT &buffer = *plan.buffers[id];
  if (buffer.arena >= plan.arenas.size())
    return invalidPlan(bufferName(plan, id), " refers to unknown arena ", buffer.arena);
  if (buffer.offset % kBufferAlignment != 0)
    return invalidPlan(bufferName(plan, id), " must start at a multiple of ", kBufferAlignment, " bytes, got ",
                       buffer.offset);
  uint64_t arenaBytes = plan.arenas[buffer.arena]->bytes;
  if (buffer.offset > arenaBytes || buffer.bytes > arenaBytes - buffer.offset)
    return invalidPlan(bufferName(plan, id), " must lie inside the ", arenaBytes, " bytes of its arena, got ",
                       buffer.bytes, " bytes at ", buffer.offset);
  if (buffer.first > buffer.last)
    return invalidPlan(bufferName(plan, id), " must not die before it is born, got first ", buffer.first, ", last ",
                       buffer.last);
  return absl::OkStatus();
}

absl::Status ds::plan::checkTables(const PlanT &plan) {
  DS_RETURN_IF_ERROR(checkMesh(plan));
  for (size_t i = 0; i < plan.extents.size(); ++i)
    DS_RETURN_IF_ERROR(checkExtent(plan, *plan.extents[i], i));
  for (const auto &arena : plan.arenas)
    DS_RETURN_IF_ERROR(checkArena(*arena));
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    DS_RETURN_IF_ERROR(checkBuffer(plan, i));
  for (const auto &kernel : plan.kernels)
    if (kernel->symbol.empty())
      return invalidPlan("kernel ", kernel->hash, " must have a symbol");
  for (const auto &peak : plan.peaks)
    if (peak->arena >= plan.arenas.size())
      return invalidPlan("peak report refers to unknown arena ", peak->arena);
  return absl::OkStatus();
}
