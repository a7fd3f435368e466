// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// GatherElements and ScatterElements along one dim.

#include "LibraryTask.h"

#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

using namespace ds;
using namespace ds::runtime;

namespace {
/// What both have: data [outer, range.length, inner], elements [outer, m, inner].
struct ElementsShape {
  IndexRange range;
  int64_t outer = 0, m = 0, inner = 0;

  int64_t dataCount() const { return productOf({outer, range.length, inner}); }
  int64_t elementCount() const { return productOf({outer, m, inner}); }
};

template <typename T> struct GatherElementsTask : Task {
  absl::Status run(const TaskContext &) override {
    DS_RETURN_IF_ERROR(shape.range.check(indices, shape.elementCount()));
    parallelRanges(shape.elementCount(), 8192, [this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t local = shape.range.localOf(indices[i]);
        const int64_t outer = i / (shape.m * shape.inner), inner = i % shape.inner;
        out[i] = local < 0 ? T(0) : data[(outer * shape.range.length + local) * shape.inner + inner];
      }
    });
    return absl::OkStatus();
  }

  const T *data = nullptr;
  const int64_t *indices = nullptr;
  T *out = nullptr;
  ElementsShape shape;
};

/// The work is cut by outer, and by inner where outer is small: each element of `out` is written by one thread.
template <typename T, bool Add> struct ScatterElementsTask : Task {
  absl::Status run(const TaskContext &) override {
    DS_RETURN_IF_ERROR(shape.range.check(indices, shape.elementCount()));
    parallelRanges(shape.dataCount(), 65536,
                   [this](int64_t begin, int64_t end) { std::fill(out + begin, out + end, T(0)); });
    const int64_t lanes = shape.outer * shape.inner;
    parallelRanges(lanes, std::max<int64_t>(1, 8192 / std::max<int64_t>(shape.m, 1)),
                   [this](int64_t begin, int64_t end) {
                     while (begin < end) {
                       const int64_t outer = begin / shape.inner, first = begin % shape.inner;
                       const int64_t last = std::min(shape.inner, first + end - begin);
                       scatterLanes(outer, first, last);
                       begin += last - first;
                     }
                   });
    return absl::OkStatus();
  }

  /// Lanes [first, last) of inner, for one outer.
  void scatterLanes(int64_t outer, int64_t first, int64_t last) const {
    for (int64_t j = 0; j < shape.m; ++j)
      for (int64_t lane = first; lane < last; ++lane) {
        const int64_t from = (outer * shape.m + j) * shape.inner + lane;
        const int64_t local = shape.range.localOf(indices[from]);
        if (local < 0)
          continue;
        T &target = out[(outer * shape.range.length + local) * shape.inner + lane];
        if constexpr (Add)
          target += updates[from];
        else
          target = updates[from];
      }
  }

  const int64_t *indices = nullptr;
  const T *updates = nullptr;
  T *out = nullptr;
  ElementsShape shape;
};
} // namespace

static absl::StatusOr<ElementsShape> resolveShape(const plan::LibraryCallT &call, const Bindings &bindings) {
  DS_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, bindings.lengths(call.extents));
  DS_ASSIGN_OR_RETURN(const plan::ExtentValue n, bindings.extent(call.extents[1]));
  return ElementsShape{{call.ints[0], n.begin, n.length}, sizes[0], sizes[2], sizes[3]};
}

template <typename T> static TaskOr makeGather(const plan::LibraryCallT &call, const Bindings &bindings) {
  auto task = std::make_unique<GatherElementsTask<T>>();
  DS_ASSIGN_OR_RETURN(task->shape, resolveShape(call, bindings));
  const int64_t count = task->shape.elementCount();
  DS_ASSIGN_OR_RETURN(task->data, bindings.elementsAs<T>(call.buffers[0], task->shape.dataCount(), call.type));
  DS_ASSIGN_OR_RETURN(task->indices, bindings.elementsAs<int64_t>(call.buffers[1], count, plan::DataType::I64));
  DS_ASSIGN_OR_RETURN(task->out, bindings.elementsAs<T>(call.buffers[2], count, call.type));
  return task;
}

template <typename T, bool Add> static TaskOr makeScatter(const plan::LibraryCallT &call, const Bindings &bindings) {
  auto task = std::make_unique<ScatterElementsTask<T, Add>>();
  DS_ASSIGN_OR_RETURN(task->shape, resolveShape(call, bindings));
  const int64_t count = task->shape.elementCount();
  DS_ASSIGN_OR_RETURN(task->indices, bindings.elementsAs<int64_t>(call.buffers[0], count, plan::DataType::I64));
  DS_ASSIGN_OR_RETURN(task->updates, bindings.elementsAs<T>(call.buffers[1], count, call.type));
  DS_ASSIGN_OR_RETURN(task->out, bindings.elementsAs<T>(call.buffers[2], task->shape.dataCount(), call.type));
  return task;
}

TaskOr ds::runtime::buildGatherElements(const plan::LibraryCallT &call, const Bindings &bindings) {
  switch (plan::sizeOf(call.type)) {
  case 1:
    return makeGather<uint8_t>(call, bindings);
  case 2:
    return makeGather<uint16_t>(call, bindings);
  case 4:
    return makeGather<uint32_t>(call, bindings);
  default:
    return makeGather<uint64_t>(call, bindings);
  }
}

TaskOr ds::runtime::buildScatterElements(const plan::LibraryCallT &call, const Bindings &bindings) {
  if (call.ints[1] != 0)
    switch (call.type) {
    case plan::DataType::F32:
      return makeScatter<float, true>(call, bindings);
    case plan::DataType::F64:
      return makeScatter<double, true>(call, bindings);
    case plan::DataType::I32:
      return makeScatter<int32_t, true>(call, bindings);
    case plan::DataType::I64:
      return makeScatter<int64_t, true>(call, bindings);
    default:
      return unsupportedType(call);
    }
  switch (plan::sizeOf(call.type)) {
  case 1:
    return makeScatter<uint8_t, false>(call, bindings);
  case 2:
    return makeScatter<uint16_t, false>(call, bindings);
  case 4:
    return makeScatter<uint32_t, false>(call, bindings);
  default:
    return makeScatter<uint64_t, false>(call, bindings);
  }
}
