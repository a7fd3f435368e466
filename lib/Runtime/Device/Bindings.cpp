// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/Task.h"

#include "ds/Runtime/Device/Arena.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <cstdlib>
#include <limits>
#include <sys/mman.h>

using namespace ds;
using namespace ds::runtime;

static absl::Status unknownId(const char *kind, uint32_t id, size_t count) {
  return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", kind, " id must be below ", count, ", got ", id));
}

int64_t ds::runtime::productOf(const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  bool saturated = false;
  for (int64_t size : sizes) {
    if (size == 0)
      return 0;
    saturated |= __builtin_mul_overflow(product, size, &product);
  }
  return saturated ? std::numeric_limits<int64_t>::max() : product;
}

void ScratchSpace::Free::operator()(void *pointer) const { std::free(pointer); }

void ScratchSpace::reserve(size_t bytes) {
  if (bytes <= size)
    return;
  const size_t page = bytes < Arena::kHugePage ? 4096 : Arena::kHugePage;
  size = (bytes + page - 1) / page * page;
  memory.reset(); // First, so that old and new space do not exist at once.
  memory.reset(std::aligned_alloc(page, size));
  if (page == Arena::kHugePage)
    madvise(memory.get(), size, MADV_HUGEPAGE); // Advice only.
}

static int64_t findLoopCount(const plan::PlanT &plan) {
  for (const auto &queue : plan.queues)
    for (const auto &instruction : queue->instructions)
      if (const auto *begin = instruction->operation.AsLoopBegin())
        return begin->count;
  return 1;
}

Bindings::Bindings(const plan::PlanT &plan, int64_t rank)
    : planTable(plan), planMesh(plan::meshOf(plan)), ownRank(rank), loops(findLoopCount(plan)),
      extents(plan::evaluateExtents(plan, planMesh, rank)) {}

absl::Status Bindings::setMemory(std::vector<ArenaMemory> memory) {
  arenas = std::move(memory);
  for (const auto &buffer : planTable.buffers) {
    if (buffer->arena >= arenas.size())
      return unknownId("arena", buffer->arena, arenas.size());
    const size_t size = arenas[buffer->arena].bytes;
    if (buffer->offset > size || buffer->bytes > size - buffer->offset)
      return absl::InvalidArgumentError(absl::StrCat("invalid plan: buffer \"", buffer->name, "\" of ", buffer->bytes,
                                                     " bytes at ", buffer->offset, " must be inside its arena of ",
                                                     size, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<plan::ExtentValue> Bindings::extent(uint32_t id) const {
  if (id >= extents.size())
    return unknownId("extent", id, extents.size());
  return extents[id];
}

absl::StatusOr<std::vector<int64_t>> Bindings::lengths(const std::vector<uint32_t> &ids) const {
  std::vector<int64_t> result;
  for (uint32_t id : ids) {
    DS_ASSIGN_OR_RETURN(const plan::ExtentValue value, extent(id));
    result.push_back(value.length);
  }
  return result;
}

absl::StatusOr<char *> Bindings::memory(uint32_t buffer) const {
  if (buffer >= planTable.buffers.size())
    return unknownId("buffer", buffer, planTable.buffers.size());
  const plan::BufferT &table = *planTable.buffers[buffer];
  char *data = arenas[table.arena].data;
  return data ? data + table.offset : nullptr;
}

absl::StatusOr<char *> Bindings::elements(uint32_t buffer, int64_t count, plan::DataType type) const {
  DS_ASSIGN_OR_RETURN(char *data, memory(buffer));
  const plan::BufferT &table = *planTable.buffers[buffer];
  const uint64_t capacity = table.bytes / std::max<uint64_t>(1, plan::sizeOf(type));
  if (count < 0 || static_cast<uint64_t>(count) > capacity)
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: buffer ", buffer, " (\"", table.name,
                                                   "\") must hold ", count, " elements of ",
                                                   std::string(plan::nameOf(type)), ", got room for ", capacity));
  return data;
}

absl::StatusOr<KernelEntry> Bindings::kernel(uint32_t id) const {
  const size_t count = kernels ? kernels->size() : 0;
  if (id >= count)
    return unknownId("kernel", id, count);
  return (*kernels)[id];
}
