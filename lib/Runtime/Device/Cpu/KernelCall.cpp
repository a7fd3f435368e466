// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/Device/Task.h"
#include "ds/Runtime/StatusMacros.h"

using namespace ds;
using namespace ds::runtime;

namespace {
struct KernelTask : Task {
  absl::Status run(const TaskContext &) override {
    parallelFor(chunks, [this](int64_t chunk) {
      entry.run(buffers.data(), extents.data(), firstRow(chunk), firstRow(chunk + 1), chunk);
    });
    if (entry.finish)
      entry.finish(buffers.data(), extents.data(), chunks);
    return absl::OkStatus();
  }

  /// Where rows are many they are single elements, and a chunk begins on a cache line.
  int64_t firstRow(int64_t chunk) const {
    constexpr int64_t kLine = 64;
    const int64_t row = chunk * rows / chunks;
    return row == rows || rows < kLine * kLine * chunks ? row : row / kLine * kLine;
  }

  KernelEntry entry;
  std::vector<void *> buffers;
  std::vector<int64_t> extents; ///< length and begin of each
  int64_t rows = 0, chunks = 0;
};
} // namespace

TaskOr ds::runtime::buildKernelCall(const plan::KernelCallT &call, const Bindings &bindings) {
  auto task = std::make_unique<KernelTask>();
  DS_ASSIGN_OR_RETURN(task->entry, bindings.kernel(call.kernel));
  for (uint32_t id : call.buffers) {
    DS_ASSIGN_OR_RETURN(char *data, bindings.memory(id));
    task->buffers.push_back(data);
  }
  for (uint32_t id : call.extents) {
    DS_ASSIGN_OR_RETURN(const plan::ExtentValue value, bindings.extent(id));
    task->extents.insert(task->extents.end(), {value.length, value.begin});
  }
  DS_ASSIGN_OR_RETURN(const plan::ExtentValue rows, bindings.extent(call.rows));
  task->rows = rows.length;
  task->chunks = call.chunks;
  return task;
}
