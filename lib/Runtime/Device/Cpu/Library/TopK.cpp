// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryTask.h"

#include "ds/Runtime/Device/ParallelFor.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

using namespace ds;
using namespace ds::runtime;

namespace {
/// `x` before `y` among numbers of which the largest come first; NaN is the largest of all.
template <typename T> bool isLarger(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    if (x != x || y != y)
      return x != x && y == y;
  return x > y;
}

template <typename T> struct TopKTask : Task {
  absl::Status run(const TaskContext &) override {
    // One piece per scratch row; the pieces do not depend on which thread takes which.
    const int64_t lanes = outer * inner;
    parallelFor(pieces, [&](int64_t piece) {
      for (int64_t lane = lanes * piece / pieces; lane < lanes * (piece + 1) / pieces; ++lane)
        select(lane / inner, lane % inner, order.data() + piece * n);
    });
    return absl::OkStatus();
  }

  void select(int64_t outerIndex, int64_t lane, int64_t *candidates) const {
    const T *lanes = data + outerIndex * n * inner + lane;
    std::iota(candidates, candidates + n, int64_t(0));
    std::partial_sort(candidates, candidates + k, candidates + n, [&](int64_t i, int64_t j) {
      const T x = lanes[i * inner], y = lanes[j * inner];
      if (largest ? isLarger(x, y) : isLarger(y, x))
        return true;
      return !(largest ? isLarger(y, x) : isLarger(x, y)) && i < j;
    });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = (outerIndex * k + i) * inner + lane;
      values[at] = lanes[candidates[i] * inner];
      indices[at] = candidates[i];
    }
  }

  const T *data = nullptr;
  T *values = nullptr;
  int64_t *indices = nullptr;
  int64_t outer = 0, n = 0, inner = 0, k = 0, pieces = 1;
  bool largest = true;
  mutable std::vector<int64_t> order; ///< [pieces, n]
};
} // namespace

template <typename T> static TaskOr makeTopK(const LibraryOperands &operands) {
  auto task = std::make_unique<TopKTask<T>>();
  task->outer = operands.length("outer");
  task->n = operands.length("n");
  task->inner = operands.length("inner");
  task->k = operands.number("k");
  task->largest = operands.number("largest") != 0;
  if (task->k < 0 || task->k > task->n)
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: k must be in [0, ", task->n, "], got ", task->k));
  const int64_t results = productOf({task->outer, task->k, task->inner});
  DS_ASSIGN_OR_RETURN(task->data, operands.buffer<T>("data"));
  DS_ASSIGN_OR_RETURN(task->values, operands.buffer<T>("values"));
  DS_ASSIGN_OR_RETURN(task->indices, operands.buffer<int64_t>("indices"));
  task->pieces = results == 0 ? 0 : getThreads();
  task->order.resize(static_cast<size_t>(task->pieces * task->n));
  return task;
}

TaskOr ds::runtime::buildTopK(const LibraryOperands &operands) {
  switch (operands.type()) {
  case plan::DataType::F32:
    return makeTopK<float>(operands);
  case plan::DataType::F64:
    return makeTopK<double>(operands);
  case plan::DataType::I32:
    return makeTopK<int32_t>(operands);
  case plan::DataType::I64:
    return makeTopK<int64_t>(operands);
  default:
    return unsupportedType(operands);
  }
}
