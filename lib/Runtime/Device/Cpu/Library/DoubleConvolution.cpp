// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions of doubles, which oneDNN does not have.

#include "ConvolutionSetup.h"

#include "ds/Runtime/Device/ParallelFor.h"

using namespace ds;
using namespace ds::runtime;

namespace {
/// Each piece of work is a plane that one thread writes: of the output, of the input's gradient, or a kernel of the
/// weight's.
class DoubleConvolutionTask : public Task {
public:
  DoubleConvolutionTask(const ConvolutionSetup &setup, plan::LibraryFunction function)
      : function(function), window(setup.window), batch(setup.batch), inputs(setup.inputs), outputs(setup.outputs),
        inputsPerGroup(setup.groups ? setup.inputs / setup.groups : 0),
        outputsPerGroup(setup.groups ? setup.outputs / setup.groups : 0), input(static_cast<double *>(setup.input)),
        weight(static_cast<double *>(setup.weight)), output(static_cast<double *>(setup.output)),
        bias(static_cast<double *>(setup.bias)) {}

  absl::Status run(const TaskContext &) override {
    switch (function) {
    case plan::LibraryFunction::Convolution:
      parallelFor(batch * outputs, [this](int64_t plane) { writeOutput(plane / outputs, plane % outputs); });
      break;
    case plan::LibraryFunction::ConvolutionGradInput:
      parallelFor(batch * inputs, [this](int64_t plane) { writeGradInput(plane / inputs, plane % inputs); });
      break;
    default:
      parallelFor(outputs * inputsPerGroup,
                  [this](int64_t plane) { writeGradWeight(plane / inputsPerGroup, plane % inputsPerGroup); });
      if (bias)
        parallelFor(outputs, [this](int64_t channel) { writeGradBias(channel); });
    }
    return absl::OkStatus();
  }

private:
  double *inputPlane(int64_t image, int64_t channel) const {
    return input + (image * inputs + channel) * window.inputs();
  }
  double *outputPlane(int64_t image, int64_t channel) const {
    return output + (image * outputs + channel) * window.outputs();
  }
  /// Of an output channel and an input channel of its group.
  double *kernel(int64_t channel, int64_t member) const {
    return weight + (channel * inputsPerGroup + member) * window.taps();
  }

  void writeOutput(int64_t image, int64_t channel) const {
    double *target = outputPlane(image, channel);
    std::fill_n(target, window.outputs(), bias ? bias[channel] : 0.0);
    for (int64_t member = 0; member < inputsPerGroup; ++member) {
      const double *source = inputPlane(image, channel / outputsPerGroup * inputsPerGroup + member);
      const double *factors = kernel(channel, member);
      for (int64_t i = 0; i < window.outputs(); ++i)
        window.forEachTap(i, [&](int64_t place, int64_t tap) { target[i] += source[place] * factors[tap]; });
    }
  }

  void writeGradInput(int64_t image, int64_t channel) const {
    double *target = inputPlane(image, channel);
    std::fill_n(target, window.inputs(), 0.0);
    const int64_t group = inputsPerGroup ? channel / inputsPerGroup : 0;
    for (int64_t out = group * outputsPerGroup; out < (group + 1) * outputsPerGroup; ++out) {
      const double *gradient = outputPlane(image, out), *factors = kernel(out, channel % inputsPerGroup);
      for (int64_t i = 0; i < window.outputs(); ++i)
        window.forEachTap(i, [&](int64_t place, int64_t tap) { target[place] += gradient[i] * factors[tap]; });
    }
  }

  void writeGradWeight(int64_t channel, int64_t member) const {
    double *target = kernel(channel, member);
    std::fill_n(target, window.taps(), 0.0);
    for (int64_t image = 0; image < batch; ++image) {
      const double *source = inputPlane(image, channel / outputsPerGroup * inputsPerGroup + member);
      const double *gradient = outputPlane(image, channel);
      for (int64_t i = 0; i < window.outputs(); ++i)
        window.forEachTap(i, [&](int64_t place, int64_t tap) { target[tap] += gradient[i] * source[place]; });
    }
  }

  void writeGradBias(int64_t channel) const {
    bias[channel] = 0;
    for (int64_t image = 0; image < batch; ++image)
      for (int64_t i = 0; i < window.outputs(); ++i)
        bias[channel] += outputPlane(image, channel)[i];
  }

  plan::LibraryFunction function;
  WindowVolume window;
  int64_t batch, inputs, outputs, inputsPerGroup, outputsPerGroup;
  double *input, *weight, *output, *bias;
};
} // namespace

TaskOr ds::runtime::makeDoubleConvolution(const ConvolutionSetup &setup, plan::LibraryFunction function) {
  return std::make_unique<DoubleConvolutionTask>(setup, function);
}
