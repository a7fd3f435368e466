// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a convolution and its gradients work on.

#ifndef DS_LIB_RUNTIME_DEVICE_CPU_LIBRARY_CONVOLUTIONSETUP_H
#define DS_LIB_RUNTIME_DEVICE_CPU_LIBRARY_CONVOLUTIONSETUP_H

#include "LibraryTask.h"
#include "Window.h"

namespace ds::runtime {

/// The three tensors of a convolution and its bias, forward or gradients, and their sizes.
struct ConvolutionSetup {
  int64_t batch = 0, inputs = 0, outputs = 0, groups = 0; ///< batch size, channels
  std::vector<WindowDim> window;
  void *input = nullptr, *weight = nullptr, *output = nullptr, *bias = nullptr; ///< values or gradients

  std::vector<int64_t> inputSizes() const { return withSpace({batch, inputs}, &WindowDim::in); }
  std::vector<int64_t> outputSizes() const { return withSpace({batch, outputs}, &WindowDim::out); }
  std::vector<int64_t> weightSizes() const {
    return withSpace({outputs, groups == 0 ? 0 : inputs / groups}, &WindowDim::kernel);
  }
  /// As oneDNN wants them: [groups, outputs of one, inputs of one, kernel..], without groups if there is one.
  std::vector<int64_t> groupedWeightSizes() const {
    if (groups == 1)
      return weightSizes();
    return withSpace({groups, outputs / groups, inputs / groups}, &WindowDim::kernel);
  }
  std::vector<int64_t> spatial(int64_t WindowDim::*field) const { return withSpace({}, field); }

private:
  std::vector<int64_t> withSpace(std::vector<int64_t> sizes, int64_t WindowDim::*field) const {
    for (const WindowDim &dim : window)
      sizes.push_back(dim.*field);
    return sizes;
  }
};

/// The function of a setup of doubles, by loops: each result is summed in one order, whatever the number of threads.
/// Sizes may be 0.
TaskOr makeDoubleConvolution(const ConvolutionSetup &setup, plan::LibraryFunction function);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_DEVICE_CPU_LIBRARY_CONVOLUTIONSETUP_H
