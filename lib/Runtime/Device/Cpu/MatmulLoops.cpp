// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Matmuls of any strides and types: slow and simple.

#include "MatmulTasks.h"

#include "ds/Runtime/Device/Float16.h"
#include "ds/Runtime/Device/ParallelFor.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

namespace {
/// Any strides, any type: each output by itself, in double.
template <typename T> struct LoopTask : Task {
  absl::Status run(const TaskContext &) override {
    parallelRanges(outputs, std::max<int64_t>(1, 4096 / std::max<int64_t>(terms, 1)),
                   [this](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       computeOne(i);
                   });
    return epilogue.run();
  }

  static int64_t step(const std::vector<MatmulIndex> &indices, int64_t number, int64_t &x,
                      int64_t MatmulIndex::*xStride, int64_t &y, int64_t MatmulIndex::*yStride) {
    int64_t c = 0;
    for (size_t i = indices.size(); i-- > 0; number /= indices[i].size) {
      const int64_t at = number % indices[i].size;
      x += at * (indices[i].*xStride);
      y += at * (indices[i].*yStride);
      c += at * indices[i].c;
    }
    return c;
  }

  void computeOne(int64_t number) const {
    int64_t aBase = 0, bBase = 0;
    const int64_t at = step(outer, number, aBase, &MatmulIndex::a, bBase, &MatmulIndex::b);
    double total = 0;
    for (int64_t term = 0; term < terms; ++term) {
      int64_t i = aBase, j = bBase;
      step(sums, term, i, &MatmulIndex::a, j, &MatmulIndex::b);
      total += static_cast<double>(a[i]) * static_cast<double>(b[j]);
    }
    total *= alpha;
    c[at] = static_cast<T>(accumulate ? static_cast<double>(c[at]) + total : total);
  }

  const T *a = nullptr, *b = nullptr;
  T *c = nullptr;
  double alpha = 1;
  bool accumulate = false;
  std::vector<MatmulIndex> outer, sums;
  int64_t outputs = 0, terms = 0;
  Epilogue epilogue;
};
} // namespace

template <typename T> static TaskOr makeLoops(const MatmulSetup &setup) {
  auto task = std::make_unique<LoopTask<T>>();
  task->a = reinterpret_cast<const T *>(setup.a);
  task->b = reinterpret_cast<const T *>(setup.b);
  task->c = reinterpret_cast<T *>(setup.c);
  task->alpha = setup.alpha;
  task->accumulate = setup.accumulate;
  task->outer = setup.form.batch;
  task->outer.insert(task->outer.end(), {setup.form.rows, setup.form.columns});
  task->sums = setup.form.outerSums;
  task->sums.push_back(setup.form.sum);
  task->outputs = setup.form.outputs();
  task->terms = setup.form.terms();
  DS_ASSIGN_OR_RETURN(task->epilogue, makeEpilogue(setup));
  return task;
}

TaskOr ds::runtime::makeLoopTask(const MatmulSetup &setup) {
  switch (setup.type) {
  case plan::DataType::F32:
    return makeLoops<float>(setup);
  case plan::DataType::F64:
    return makeLoops<double>(setup);
  case plan::DataType::F16:
    return makeLoops<Float16>(setup);
  case plan::DataType::BF16:
    return makeLoops<BFloat16>(setup);
  default:
    return absl::UnimplementedError(
        absl::StrCat("a matmul must be of a floating-point type, got ", std::string(plan::nameOf(setup.type))));
  }
}
