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
struct MaxPoolTask : Task {
  absl::Status run(const TaskContext &) override {
    const int64_t work = productOf({rows.out, columns.out, rows.kernel, columns.kernel});
    parallelRanges(planes, std::max<int64_t>(1, 16384 / std::max<int64_t>(work, 1)),
                   [this](int64_t begin, int64_t end) {
                     for (int64_t plane = begin; plane < end; ++plane)
                       gradInput ? runBackward(plane) : runForward(plane);
                   });
    return absl::OkStatus();
  }

  int64_t inputSize() const { return rows.in * columns.in; }
  int64_t outputSize() const { return rows.out * columns.out; }

  /// The place of the maximum in the plane: the first of equal ones, the last NaN; -1 if the window sees only padding.
  int64_t findMaximum(const float *plane, int64_t outRow, int64_t outColumn) const {
    int64_t best = -1;
    for (int64_t i = 0; i < rows.kernel; ++i) {
      const int64_t row = outRow * rows.stride - rows.padBegin + i * rows.dilation;
      for (int64_t j = 0; row >= 0 && row < rows.in && j < columns.kernel; ++j) {
        const int64_t column = outColumn * columns.stride - columns.padBegin + j * columns.dilation;
        if (column < 0 || column >= columns.in)
          continue;
        const int64_t place = row * columns.in + column;
        if (best < 0 || plane[place] > plane[best] || plane[place] != plane[place])
          best = place;
      }
    }
    return best;
  }

  void runForward(int64_t plane) const {
    const float *source = input + plane * inputSize();
    for (int64_t i = 0; i < outputSize(); ++i) {
      const int64_t place = findMaximum(source, i / columns.out, i % columns.out);
      output[plane * outputSize() + i] = place < 0 ? -std::numeric_limits<float>::infinity() : source[place];
    }
  }

  void runBackward(int64_t plane) const {
    const float *source = input + plane * inputSize();
    float *target = gradInput + plane * inputSize();
    std::fill(target, target + inputSize(), 0.0f);
    for (int64_t i = 0; i < outputSize(); ++i)
      if (const int64_t place = findMaximum(source, i / columns.out, i % columns.out); place >= 0)
        target[place] += gradOutput[plane * outputSize() + i];
  }

  const float *input = nullptr, *gradOutput = nullptr;
  float *output = nullptr, *gradInput = nullptr; ///< one of them
  int64_t planes = 0;
  WindowDim rows, columns; ///< in one dimension there is one row
};
} // namespace

TaskOr ds::runtime::buildMaxPool(const LibraryOperands &operands) {
  if (operands.type() != plan::DataType::F32)
    return unsupportedType(operands);
  DS_ASSIGN_OR_RETURN(const std::vector<WindowDim> window, resolveWindow(operands));
  auto task = std::make_unique<MaxPoolTask>();
  task->planes = operands.length("planes");
  task->columns = window.back();
  if (window.size() == 2)
    task->rows = window[0];
  DS_ASSIGN_OR_RETURN(task->input, operands.buffer<float>("input"));
  if (operands.function() == plan::LibraryFunction::MaxPool) {
    DS_ASSIGN_OR_RETURN(task->output, operands.buffer<float>("output"));
    return task;
  }
  DS_ASSIGN_OR_RETURN(task->gradOutput, operands.buffer<float>("gradOutput"));
  DS_ASSIGN_OR_RETURN(task->gradInput, operands.buffer<float>("gradInput"));
  return task;
}
