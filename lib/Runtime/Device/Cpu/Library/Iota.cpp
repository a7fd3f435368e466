// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryTask.h"

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

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

template <typename T> static TaskOr makeIota(const plan::LibraryCallT &call, const Bindings &bindings) {
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, bindings.lengths(call.extents));
  DS_ASSIGN_OR_RETURN(const plan::ExtentValue n, bindings.extent(call.extents[1]));
  auto task = std::make_unique<IotaTask<T>>();
  DS_ASSIGN_OR_RETURN(task->out, bindings.elementsAs<T>(call.buffers[0], productOf(sizes), call.type));
  task->outer = sizes[0];
  task->n = sizes[1];
  task->inner = sizes[2];
  task->first = n.begin;
  task->start = call.ints.empty() ? 0 : call.ints[0];
  task->step = call.ints.size() < 2 ? 1 : call.ints[1];
  return task;
}

TaskOr ds::runtime::buildIota(const plan::LibraryCallT &call, const Bindings &bindings) {
  switch (call.type) {
  case plan::DataType::F32:
    return makeIota<float>(call, bindings);
  case plan::DataType::F64:
    return makeIota<double>(call, bindings);
  case plan::DataType::I32:
    return makeIota<int32_t>(call, bindings);
  case plan::DataType::I64:
    return makeIota<int64_t>(call, bindings);
  default:
    return unsupportedType(call);
  }
}
