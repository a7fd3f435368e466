// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// GatherElements and ScatterElements along one dim.

#include "LibraryTask.h"

#include "ds/Runtime/Device/ParallelFor.h"

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

static ElementsShape shapeOf(const LibraryOperands &operands) {
  const plan::ExtentValue n = operands.extent("n");
  return {{operands.number("N"), n.begin, n.length},
          operands.length("outer"),
          operands.length("m"),
          operands.length("inner")};
}

template <typename T> static TaskOr makeGather(const LibraryOperands &operands) {
  auto task = std::make_unique<GatherElementsTask<T>>();
  task->shape = shapeOf(operands);
  DS_ASSIGN_OR_RETURN(task->data, operands.buffer<T>("data"));
  DS_ASSIGN_OR_RETURN(task->indices, operands.buffer<int64_t>("indices"));
  DS_ASSIGN_OR_RETURN(task->out, operands.buffer<T>("out"));
  return task;
}

template <typename T, bool Add> static TaskOr makeScatter(const LibraryOperands &operands) {
  auto task = std::make_unique<ScatterElementsTask<T, Add>>();
  task->shape = shapeOf(operands);
  DS_ASSIGN_OR_RETURN(task->indices, operands.buffer<int64_t>("indices"));
  DS_ASSIGN_OR_RETURN(task->updates, operands.buffer<T>("updates"));
  DS_ASSIGN_OR_RETURN(task->out, operands.buffer<T>("out"));
  return task;
}

TaskOr ds::runtime::buildGatherElements(const LibraryOperands &operands) {
  switch (plan::sizeOf(operands.type())) {
  case 1:
    return makeGather<uint8_t>(operands);
  case 2:
    return makeGather<uint16_t>(operands);
  case 4:
    return makeGather<uint32_t>(operands);
  default:
    return makeGather<uint64_t>(operands);
  }
}

TaskOr ds::runtime::buildScatterElements(const LibraryOperands &operands) {
  if (operands.number("add") != 0)
    switch (operands.type()) {
    case plan::DataType::F32:
      return makeScatter<float, true>(operands);
    case plan::DataType::F64:
      return makeScatter<double, true>(operands);
    case plan::DataType::I32:
      return makeScatter<int32_t, true>(operands);
    case plan::DataType::I64:
      return makeScatter<int64_t, true>(operands);
    default:
      return unsupportedType(operands);
    }
  switch (plan::sizeOf(operands.type())) {
  case 1:
    return makeScatter<uint8_t, false>(operands);
  case 2:
    return makeScatter<uint16_t, false>(operands);
  case 4:
    return makeScatter<uint32_t, false>(operands);
  default:
    return makeScatter<uint64_t, false>(operands);
  }
}
