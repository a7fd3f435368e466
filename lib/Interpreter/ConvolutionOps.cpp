// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and pools. The spatial dims are whole on every rank.

#include "Semantics.h"

#include "ds/Dialect/DsDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ds;

namespace {
/// One pair of an input position and a kernel position that meet in a window; row-major numbers.
struct Tap {
  int64_t input, kernel;
};
/// The taps of the window at each position of the result, padding left out.
using Windows = std::vector<std::vector<Tap>>;

struct WindowSizes {
  ArrayRef<int64_t> input, kernel, result; ///< spatial extents
};
} // namespace

/// Extends each tap by one more spatial dim.
static void addTapsOfDim(const std::vector<Tap> &taps, std::vector<Tap> &result, int64_t start, int64_t dilation,
                         int64_t inputSize, int64_t kernelSize) {
  for (const Tap &tap : taps)
    for (int64_t k = 0; k < kernelSize; ++k) {
      const int64_t position = start + k * dilation;
      if (position >= 0 && position < inputSize)
        result.push_back({tap.input * inputSize + position, tap.kernel * kernelSize + k});
    }
}

template <typename OpT> static Windows windowsOf(OpT op, const WindowSizes &sizes) {
  Windows windows = {{{0, 0}}};
  for (size_t dim = 0; dim < sizes.input.size(); ++dim) {
    Windows finer;
    for (const std::vector<Tap> &taps : windows)
      for (int64_t o = 0; o < sizes.result[dim]; ++o)
        addTapsOfDim(taps, finer.emplace_back(), o * op.getStrides()[dim] - op.getPads()[dim], op.getDilations()[dim],
                     sizes.input[dim], sizes.kernel[dim]);
    windows = std::move(finer);
  }
  return windows;
}

namespace {
/// Images [N, C, positions], weights [M, C / groups, positions], results [N, M, positions] of one rank.
struct LocalConvolution {
  Windows windows;
  int64_t images, outputs, inputsPerGroup, outputsPerGroup, groups, inputSize, kernelSize;

  int64_t inputAt(int64_t n, int64_t m, int64_t c) const {
    return (n * groups * inputsPerGroup + m / outputsPerGroup * inputsPerGroup + c) * inputSize;
  }
  int64_t weightAt(int64_t m, int64_t c) const { return (m * inputsPerGroup + c) * kernelSize; }
  int64_t resultAt(int64_t n, int64_t m) const { return (n * outputs + m) * static_cast<int64_t>(windows.size()); }

  /// Calls `visit(input, weight, result)` with element numbers for every product of the convolution.
  template <typename Function> void visitProducts(Function visit) const {
    for (int64_t n = 0; n < images; ++n)
      for (int64_t m = 0; m < outputs; ++m)
        for (size_t o = 0; o < windows.size(); ++o)
          for (int64_t c = 0; c < inputsPerGroup; ++c)
            for (const Tap &tap : windows[o])
              visit(inputAt(n, m, c) + tap.input, weightAt(m, c) + tap.kernel,
                    resultAt(n, m) + static_cast<int64_t>(o));
  }
};
} // namespace

template <typename OpT>
static FailureOr<LocalConvolution> convolutionOf(LocalCall &call, OpT op, const Shape &input, const Shape &weight,
                                                 const Shape &result) {
  for (unsigned operand = 0; operand < 2; ++operand)
    for (size_t dim = 2; dim < call.operand(operand).shape.size(); ++dim)
      if (failed(call.requireWhole(operand, dim)))
        return failure();
  const int64_t groups = op.getGroups();
  if (input[0] != result[0] || weight[0] != result[1] || weight[1] * groups != input[1] || weight[0] % groups)
    return call.fail("input, weight and result must have one local batch and channels that fit");
  LocalConvolution convolution;
  convolution.windows =
      windowsOf(op, {ArrayRef(input).drop_front(2), ArrayRef(weight).drop_front(2), ArrayRef(result).drop_front(2)});
  convolution.images = input[0];
  convolution.outputs = weight[0];
  convolution.inputsPerGroup = weight[1];
  convolution.groups = groups;
  convolution.outputsPerGroup = std::max<int64_t>(weight[0] / groups, 1);
  convolution.inputSize = RowView(input, 2).width;
  convolution.kernelSize = RowView(weight, 2).width;
  return convolution;
}

static LogicalResult convolution(LocalCall &call) {
  const DenseTensor &input = call.operand(0), &weight = call.operand(1);
  DenseTensor &result = call.result();
  auto local = convolutionOf(call, cast<ConvolutionOp>(call.op), input.shape, weight.shape, result.shape);
  if (failed(local))
    return failure();
  local->visitProducts(
      [&](int64_t i, int64_t w, int64_t o) { result.floats[o] += input.floats[i] * weight.floats[w]; });
  return success();
}

static LogicalResult convolutionGradInput(LocalCall &call) {
  const DenseTensor &weight = call.operand(0), &gradient = call.operand(1);
  DenseTensor &result = call.result();
  auto local = convolutionOf(call, cast<ConvolutionGradInputOp>(call.op), result.shape, weight.shape, gradient.shape);
  if (failed(local))
    return failure();
  local->visitProducts(
      [&](int64_t i, int64_t w, int64_t o) { result.floats[i] += weight.floats[w] * gradient.floats[o]; });
  return success();
}

static LogicalResult convolutionGradWeight(LocalCall &call) {
  const DenseTensor &input = call.operand(0), &gradient = call.operand(1);
  DenseTensor &result = call.result();
  auto local = convolutionOf(call, cast<ConvolutionGradWeightOp>(call.op), input.shape, result.shape, gradient.shape);
  if (failed(local))
    return failure();
  local->visitProducts(
      [&](int64_t i, int64_t w, int64_t o) { result.floats[w] += input.floats[i] * gradient.floats[o]; });
  return success();
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// The input element that wins a window: the first maximum, or the first NaN; -1 if the window sees only padding.
static int64_t winnerOf(const std::vector<Tap> &taps, const double *image) {
  int64_t winner = -1;
  for (const Tap &tap : taps)
    if (winner < 0 || image[tap.input] > image[winner] || (std::isnan(image[tap.input]) && !std::isnan(image[winner])))
      winner = tap.input;
  return winner;
}

/// Calls `visit(result element, input element)` with the winner of each window (-1: none).
template <typename OpT, typename Function>
static LogicalResult visitWinners(LocalCall &call, OpT op, const Shape &result, Function visit) {
  const DenseTensor &input = call.operand(0);
  for (size_t dim = 2; dim < input.shape.size(); ++dim)
    if (failed(call.requireWhole(0, dim)))
      return failure();
  if (input.shape[0] != result[0] || input.shape[1] != result[1])
    return call.fail("input and result must have one local batch and channels");
  const Windows windows =
      windowsOf(op, {ArrayRef(input.shape).drop_front(2), op.getKernel(), ArrayRef(result).drop_front(2)});
  const RowView images(input.shape, 2);
  for (int64_t image = 0; image < images.rows; ++image)
    for (size_t o = 0; o < windows.size(); ++o) {
      const int64_t winner = winnerOf(windows[o], input.floats.data() + image * images.width);
      visit(image * static_cast<int64_t>(windows.size()) + static_cast<int64_t>(o),
            winner < 0 ? -1 : image * images.width + winner);
    }
  return success();
}

static LogicalResult maxPool(LocalCall &call) {
  DenseTensor &result = call.result();
  return visitWinners(call, cast<MaxPoolOp>(call.op), result.shape, [&](int64_t o, int64_t i) {
    result.floats[o] = i < 0 ? -std::numeric_limits<double>::infinity() : call.operand(0).floats[i];
  });
}

static LogicalResult maxPoolGrad(LocalCall &call) {
  const DenseTensor &gradient = call.operand(1);
  if (failed(call.requireShape(call.operand(0).shape)))
    return failure();
  return visitWinners(call, cast<MaxPoolGradOp>(call.op), gradient.shape, [&](int64_t o, int64_t i) {
    if (i >= 0)
      call.result().floats[i] += gradient.floats[o];
  });
}

void ds::addConvolutionOps(SemanticsTable &table) {
  table.add<ConvolutionGradInputOp>(convolutionGradInput);
  table.add<ConvolutionGradWeightOp>(convolutionGradWeight);
  table.add<ConvolutionOp>(convolution);
  table.add<MaxPoolGradOp>(maxPoolGrad);
  table.add<MaxPoolOp>(maxPool);
}
