// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Instructions with all pointers and extents resolved.

#ifndef DS_RUNTIME_DEVICE_TASK_H
#define DS_RUNTIME_DEVICE_TASK_H

#include "ds/Plan/Extents.h"
#include "ds/Runtime/Device/NativeKernels.h"

namespace ds::runtime {

/// What differs between two runs of one task.
struct TaskContext {
  int64_t step = 0;
  int64_t loopIndex = 0; ///< number of the current loop iteration; 0 outside the loop
};

/// One instruction of one rank, ready to run: all choices and allocations are behind it.
class Task {
public:
  virtual ~Task() = default;
  virtual absl::Status run(const TaskContext &context) = 0;
};
using TaskOr = absl::StatusOr<std::unique_ptr<Task>>;

/// Working memory of a library, shared by the tasks of one queue, which run one after the other.
class ScratchSpace {
public:
  /// Makes the space at least `bytes` large. It may move.
  void reserve(size_t bytes);
  void *data() const { return memory.get(); } ///< page aligned, on huge pages if it has their size
  size_t bytes() const { return size; }

private:
  struct Free {
    void operator()(void *pointer) const;
  };
  std::unique_ptr<void, Free> memory;
  size_t size = 0;
};

/// Memory of one arena of a plan.
struct ArenaMemory {
  char *data = nullptr; ///< null: there is none, and tasks are built only
  size_t bytes = 0;
};

/// What a plan's ids mean on one rank. Lookups check ids and sizes, since a plan comes from a file.
class Bindings {
public:
  Bindings(const plan::PlanT &plan, int64_t rank);

  /// Gives the arenas' memory, by arena id; fails if a buffer is not inside its arena.
  absl::Status setMemory(std::vector<ArenaMemory> memory);
  /// The space for tasks built from now on.
  void setScratch(ScratchSpace *space) { scratchSpace = space; }
  ScratchSpace *scratch() const { return scratchSpace; }
  void setKernels(const std::vector<KernelEntry> *entries) { kernels = entries; }

  const plan::PlanT &plan() const { return planTable; }
  const Mesh &mesh() const { return planMesh; }
  int64_t rank() const { return ownRank; }
  /// How often the loop's instructions run per step, 1 without a loop.
  int64_t loopCount() const { return loops; }

  absl::StatusOr<plan::ExtentValue> extent(uint32_t id) const;
  /// The lengths of the extents `ids`.
  absl::StatusOr<std::vector<int64_t>> lengths(const std::vector<uint32_t> &ids) const;
  /// A buffer that must hold `count` elements of `type`.
  absl::StatusOr<char *> elements(uint32_t buffer, int64_t count, plan::DataType type) const;
  template <typename T> absl::StatusOr<T *> elementsAs(uint32_t buffer, int64_t count, plan::DataType type) const {
    absl::StatusOr<char *> bytes = elements(buffer, count, type);
    if (!bytes.ok())
      return bytes.status();
    return reinterpret_cast<T *>(*bytes);
  }
  /// A buffer of any size.
  absl::StatusOr<char *> memory(uint32_t buffer) const;
  absl::StatusOr<KernelEntry> kernel(uint32_t id) const;

private:
  const plan::PlanT &planTable;
  Mesh planMesh;
  int64_t ownRank;
  int64_t loops = 1;
  std::vector<plan::ExtentValue> extents;
  std::vector<ArenaMemory> arenas;
  const std::vector<KernelEntry> *kernels = nullptr;
  ScratchSpace *scratchSpace = nullptr;
};

/// The product of `sizes`, none negative; saturates at the largest int64_t.
int64_t productOf(const std::vector<int64_t> &sizes);

//===----------------------------------------------------------------------===//
// The instructions that need no other rank, on the CPU
//===----------------------------------------------------------------------===//

TaskOr buildKernelCall(const plan::KernelCallT &call, const Bindings &bindings);
TaskOr buildMatmul(const plan::MatmulT &matmul, const Bindings &bindings);
TaskOr buildCopy(const plan::CopyT &copy, const Bindings &bindings);
TaskOr buildFill(const plan::FillT &fill, const Bindings &bindings);
TaskOr buildTakeShard(const plan::TakeShardT &shard, const Bindings &bindings);
TaskOr buildToPartial(const plan::ToPartialT &cast, const Bindings &bindings);
TaskOr buildLibraryCall(const plan::LibraryCallT &call, const Bindings &bindings);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_TASK_H
