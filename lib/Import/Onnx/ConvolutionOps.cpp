// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and pools.

#include "Registry.h"

using namespace mlir;
using namespace ds;
using namespace ds::onnx_import;

namespace {
/// Windows sliding over the spatial dims; `pads` are begin of each, then end of each.
struct Window {
  Dims kernel, strides, dilations, pads, result;
};
} // namespace

static constexpr int64_t kLargestWindow = int64_t(1) << 31;

static bool areInRange(DimsRef values, int64_t least) {
  return llvm::all_of(values, [&](int64_t value) { return value >= least && value < kLargestWindow; });
}

/// Pads of auto_pad SAME_UPPER and SAME_LOWER: as many windows as strides fit.
static void padSame(Window &window, DimsRef spatial, bool isLower) {
  size_t rank = spatial.size();
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t windows = llvm::divideCeil(spatial[dim], window.strides[dim]);
    int64_t reach = (windows - 1) * window.strides[dim] + (window.kernel[dim] - 1) * window.dilations[dim] + 1;
    int64_t total = std::max<int64_t>(reach - spatial[dim], 0), less = total / 2;
    window.pads[dim] = isLower ? total - less : less;
    window.pads[rank + dim] = total - window.pads[dim];
  }
}

static FailureOr<Window> findWindow(NodeContext &context, DimsRef spatial, DimsRef kernel, bool roundsUp) {
  size_t rank = spatial.size();
  Window window;
  window.kernel = context.intsAttribute("kernel_shape", kernel);
  window.strides = context.intsAttribute("strides", Dims(rank, 1));
  window.dilations = context.intsAttribute("dilations", Dims(rank, 1));
  window.pads = context.intsAttribute("pads", Dims(2 * rank, 0));
  if (window.kernel.size() != rank || window.strides.size() != rank || window.dilations.size() != rank ||
      window.pads.size() != 2 * rank)
    return context.malformed("must have a kernel, strides and dilations of " + Twine(rank) + " dims and " +
                             Twine(2 * rank) + " pads");
  if (!areInRange(window.kernel, 1) || !areInRange(window.strides, 1) || !areInRange(window.dilations, 1) ||
      !areInRange(window.pads, 0) || !areInRange(spatial, 0))
    return context.malformed(
        "must have a kernel, strides and dilations of 1 at least and pads of 0 at least, got kernel " +
        textOf(window.kernel) + ", strides " + textOf(window.strides) + ", dilations " + textOf(window.dilations) +
        ", pads " + textOf(window.pads));
  std::string mode = context.stringAttribute("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    padSame(window, spatial, mode == "SAME_LOWER");
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t reach = (window.kernel[dim] - 1) * window.dilations[dim] + 1;
    int64_t room = spatial[dim] + window.pads[dim] + window.pads[rank + dim] - reach;
    int64_t windows = room < 0 ? 0 : room / window.strides[dim] + 1;
    // A window that ceil_mode adds must start inside the input or its left padding.
    if (roundsUp && room >= 0 && room % window.strides[dim] &&
        windows * window.strides[dim] < spatial[dim] + window.pads[dim])
      ++windows;
    window.result.push_back(windows);
  }
  return window;
}

/// Images of one to three spatial dims, which there is code for.
static LogicalResult expectSpatial(NodeContext &context) {
  const Tensor &input = context.input(0);
  if (failed(context.expectRank(0, 3, 32)))
    return failure();
  if (input.rank() > 5)
    return context.unsupported("has more than three spatial dims, got shape " + textOf(input.shape()));
  return success();
}

static LogicalResult importConv(NodeContext &context) {
  const Tensor &input = context.input(0), &weight = context.input(1);
  if (failed(expectSpatial(context)) || failed(context.expectRank(1, input.rank(), input.rank())) ||
      failed(context.expectFloat(0)) || failed(context.expectSameElement(0, 1)))
    return failure();
  int64_t groups = context.intAttribute("group", 1), channels = input.shape()[1], results = weight.shape()[0];
  if (groups < 1 || channels % groups || weight.shape()[1] != channels / groups || results % groups)
    return context.malformed("must have a weight for " + Twine(channels) + " channels in " + Twine(groups) +
                             " groups, got shape " + textOf(weight.shape()));
  FailureOr<Window> window = findWindow(context, input.shape().drop_front(2), weight.shape().drop_front(2), false);
  if (failed(window))
    return failure();
  if (DimsRef(window->kernel) != weight.shape().drop_front(2))
    return context.malformed("must have the kernel of its weight " + textOf(weight.shape()) + ", got " +
                             textOf(window->kernel));
  Dims shape = {input.shape()[0], results};
  llvm::append_range(shape, window->result);
  if (failed(context.expectShape(shape)))
    return failure();
  TensorBuilder &build = context.build;
  Tensor result =
      build.emit<ConvolutionOp>(build.type(input.element(), shape), build.materialize(input), build.materialize(weight),
                                window->strides, window->pads, window->dilations, static_cast<uint64_t>(groups));
  if (!context.hasInput(2))
    return context.finish(result);
  if (failed(context.expectSameElement(0, 2)))
    return failure();
  if (context.input(2).shape() != DimsRef({results}))
    return context.malformed("must have a bias of shape [" + Twine(results) + "], got " +
                             textOf(context.input(2).shape()));
  Dims column(input.rank() - 1, 1);
  column[0] = results;
  return context.finish(build.binary(Binary::Add, result, build.reshape(context.input(2), column)));
}

static LogicalResult importMaxPool(NodeContext &context) {
  const Tensor &input = context.input(0);
  if (failed(expectSpatial(context)) || failed(context.expectFloat(0)))
    return failure();
  if (context.isOutputUsed(1))
    return context.unsupported("gives its indices away");
  FailureOr<Window> window =
      findWindow(context, input.shape().drop_front(2), {}, context.intAttribute("ceil_mode", 0) != 0);
  if (failed(window))
    return failure();
  Dims shape(input.shape().take_front(2));
  llvm::append_range(shape, window->result);
  if (failed(context.expectShape(shape)))
    return failure();
  TensorBuilder &build = context.build;
  return context.finish(build.emit<MaxPoolOp>(build.type(input.element(), shape), build.materialize(input),
                                              window->kernel, window->strides, window->pads, window->dilations));
}

static LogicalResult importGlobalAveragePool(NodeContext &context) {
  const Tensor &input = context.input(0);
  if (failed(context.expectRank(0, 3, 8)) || failed(context.expectFloat(0)))
    return failure();
  Dims dims = dimRange(2, input.rank()), shape(input.rank(), 1);
  shape[0] = input.shape()[0];
  shape[1] = input.shape()[1];
  TensorBuilder &build = context.build;
  Tensor sum = build.reduce(Fold::Sum, input, dims);
  double count = static_cast<double>(*countOf(input.shape().drop_front(2)));
  return context.finish(build.reshape(build.binary(Binary::Div, sum, build.scalar(sum, count)), shape));
}

void ds::onnx_import::addConvolutionOps(Registry &registry) {
  registry.add("Conv", 1, 2, 3, importConv);
  registry.add("MaxPool", 1, 1, 1, importMaxPool);
  registry.add("GlobalAveragePool", 1, 1, 1, importGlobalAveragePool);
}
