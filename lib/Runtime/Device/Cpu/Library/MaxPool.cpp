// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryTask.h"
#include "Window.h"

#include "ds/Runtime/Device/ParallelFor.h"

#include <limits>

using namespace ds;
using namespace ds::runtime;

namespace {
/// Both directions walk the planes; the backward one finds the maxima again.
template <typename T> struct MaxPoolTask : Task {
  explicit MaxPoolTask(const WindowVolume &window) : window(window) {}

  absl::Status run(const TaskContext &) override {
    const int64_t work = window.outputs() * window.taps();
    parallelRanges(planes, std::max<int64_t>(1, 16384 / std::max<int64_t>(work, 1)),
                   [this](int64_t begin, int64_t end) {
                     for (int64_t plane = begin; plane < end; ++plane)
                       gradInput ? runBackward(plane) : runForward(plane);
                   });
    return absl::OkStatus();
  }

  /// The place of the maximum in the plane: the first of equal ones, the last NaN; -1 if the window sees only padding.
  int64_t findMaximum(const T *plane, int64_t output) const {
    int64_t best = -1;
    window.forEachTap(output, [&](int64_t place, int64_t) {
      if (best < 0 || plane[place] > plane[best] || plane[place] != plane[place])
        best = place;
    });
    return best;
  }

  void runForward(int64_t plane) const {
    const T *source = input + plane * window.inputs();
    for (int64_t i = 0; i < window.outputs(); ++i) {
      const int64_t place = findMaximum(source, i);
      output[plane * window.outputs() + i] = place < 0 ? -std::numeric_limits<T>::infinity() : source[place];
    }
  }

  void runBackward(int64_t plane) const {
    const T *source = input + plane * window.inputs();
    T *target = gradInput + plane * window.inputs();
    std::fill(target, target + window.inputs(), T(0));
    for (int64_t i = 0; i < window.outputs(); ++i)
      if (const int64_t place = findMaximum(source, i); place >= 0)
        target[place] += gradOutput[plane * window.outputs() + i];
  }

  const T *input = nullptr, *gradOutput = nullptr;
  T *output = nullptr, *gradInput = nullptr; ///< one of them
  int64_t planes = 0;
  WindowVolume window;
};
} // namespace

template <typename T> static TaskOr makeMaxPool(const LibraryOperands &operands) {
  DS_ASSIGN_OR_RETURN(const std::vector<WindowDim> window, resolveWindow(operands));
  auto task = std::make_unique<MaxPoolTask<T>>(WindowVolume(window));
  task->planes = operands.length("planes");
  DS_ASSIGN_OR_RETURN(task->input, operands.buffer<T>("input"));
  if (operands.function() == plan::LibraryFunction::MaxPool) {
    DS_ASSIGN_OR_RETURN(task->output, operands.buffer<T>("output"));
    return task;
  }
  DS_ASSIGN_OR_RETURN(task->gradOutput, operands.buffer<T>("gradOutput"));
  DS_ASSIGN_OR_RETURN(task->gradInput, operands.buffer<T>("gradInput"));
  return task;
}

TaskOr ds::runtime::buildMaxPool(const LibraryOperands &operands) {
  switch (operands.type()) {
  case plan::DataType::F32:
    return makeMaxPool<float>(operands);
  case plan::DataType::F64:
    return makeMaxPool<double>(operands);
  default:
    return unsupportedType(operands);
  }
}
