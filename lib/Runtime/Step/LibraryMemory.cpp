// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/LibraryMemory.h"

#include "Program.h"

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

/// Builds the instruction's task if a library works for it, so that it reserves its space.
static absl::Status reserve(const plan::InstructionT &instruction, const Bindings &bindings) {
  TaskOr task = nullptr;
  if (const auto *matmul = instruction.operation.AsMatmul())
    task = buildMatmul(*matmul, bindings);
  else if (const auto *call = instruction.operation.AsLibraryCall())
    task = buildLibraryCall(*call, bindings);
  if (task.ok())
    return absl::OkStatus();
  return absl::Status(task.status().code(),
                      absl::StrCat("op ", nameOfInstruction(instruction), ": ", std::string(task.status().message())));
}

absl::StatusOr<size_t> ds::runtime::libraryBytes(const plan::PlanT &plan, int64_t rank, int threads) {
  setThreads(threads);
  Bindings bindings(plan, rank);
  std::vector<ArenaMemory> nowhere; // Tasks are built, and never run.
  for (const auto &arena : plan.arenas)
    nowhere.push_back({nullptr, arena->bytes});
  DS_RETURN_IF_ERROR(bindings.setMemory(std::move(nowhere)));
  size_t bytes = 0;
  for (const auto &queue : plan.queues) {
    ScratchSpace scratch;
    bindings.setScratch(&scratch);
    for (const auto &instruction : queue->instructions)
      DS_RETURN_IF_ERROR(reserve(*instruction, bindings));
    bytes += scratch.bytes();
  }
  return bytes;
}
