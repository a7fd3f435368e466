// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryTask.h"

#include "ds/Runtime/Device/ParallelFor.h"

using namespace ds;
using namespace ds::runtime;

namespace {
template <typename T> struct IotaTask : Task {
  absl::Status run(const TaskContext &) override {
    parallelRanges(outer * n, 16384 / std::max<int64_t>(inner, 1), [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        std::fill_n(out + row * inner, inner, static_cast<T>(start + step * (first + row % n)));
    });
    return absl::OkStatus();
  }

  T *out = nullptr;
  int64_t outer = 0, n = 0, inner = 0, first = 0, start = 0, step = 1;
};
} // namespace

template <typename T> static TaskOr makeIota(const LibraryOperands &operands) {
  auto task = std::make_unique<IotaTask<T>>();
  DS_ASSIGN_OR_RETURN(task->out, operands.buffer<T>("out"));
  task->outer = operands.length("outer");
  task->n = operands.length("n");
  task->inner = operands.length("inner");
  task->first = operands.extent("n").begin;
  task->start = operands.number("start", 0);
  task->step = operands.number("step", 1);
  return task;
}

TaskOr ds::runtime::buildIota(const LibraryOperands &operands) {
  switch (operands.type()) {
  case plan::DataType::F32:
    return makeIota<float>(operands);
  case plan::DataType::F64:
    return makeIota<double>(operands);
  case plan::DataType::I32:
    return makeIota<int32_t>(operands);
  case plan::DataType::I64:
    return makeIota<int64_t>(operands);
  default:
    return unsupportedType(operands);
  }
}
