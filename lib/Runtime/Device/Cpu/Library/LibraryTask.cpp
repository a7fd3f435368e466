// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryTask.h"

#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

LibraryArity ds::runtime::libraryArity(plan::LibraryFunction function, size_t spatialDims) {
  const size_t window = 1 + 5 * spatialDims; // S, kernel, strides, pads at both ends, dilations
  switch (function) {
  case plan::LibraryFunction::Iota:
    return {1, 1, 3, 0, 2};
  case plan::LibraryFunction::GatherRows:
  case plan::LibraryFunction::ScatterAddRows:
    return {3, 3, 3, 1, 1};
  case plan::LibraryFunction::GatherElements:
    return {3, 3, 4, 1, 1};
  case plan::LibraryFunction::ScatterElements:
    return {3, 3, 4, 2, 2};
  case plan::LibraryFunction::TopK:
    return {3, 3, 3, 2, 2};
  case plan::LibraryFunction::Convolution:
    return {3, 4, 4 + 2 * spatialDims, window, window};
  case plan::LibraryFunction::ConvolutionGradInput:
    return {3, 3, 4 + 2 * spatialDims, window, window};
  case plan::LibraryFunction::ConvolutionGradWeight:
    return {3, 4, 4 + 2 * spatialDims, window, window};
  case plan::LibraryFunction::MaxPool:
    return {2, 2, 1 + 2 * spatialDims, window, window};
  case plan::LibraryFunction::MaxPoolGrad:
    return {3, 3, 1 + 2 * spatialDims, window, window};
  }
  return {};
}

static bool isSpatial(plan::LibraryFunction function) {
  return function >= plan::LibraryFunction::Convolution && function <= plan::LibraryFunction::MaxPoolGrad;
}

static absl::Status checkArity(const plan::LibraryCallT &call) {
  const std::string name(plan::nameOf(call.function));
  size_t spatialDims = 0;
  if (isSpatial(call.function)) {
    if (call.ints.empty() || call.ints[0] < 1 || call.ints[0] > 2)
      return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", name, " must have 1 or 2 spatial dims"));
    spatialDims = static_cast<size_t>(call.ints[0]);
  }
  const LibraryArity arity = libraryArity(call.function, spatialDims);
  const bool isGood = call.buffers.size() >= arity.minBuffers && call.buffers.size() <= arity.maxBuffers &&
                      call.extents.size() == arity.extents && call.ints.size() >= arity.minInts &&
                      call.ints.size() <= arity.maxInts;
  if (isGood)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("invalid plan: ", name, " must have ", arity.minBuffers, " to ", arity.maxBuffers, " buffers, ",
                   arity.extents, " extents and ", arity.minInts, " to ", arity.maxInts, " ints, got ",
                   call.buffers.size(), ", ", call.extents.size(), " and ", call.ints.size()));
}

absl::Status ds::runtime::unsupportedType(const plan::LibraryCallT &call) {
  return absl::UnimplementedError(absl::StrCat(std::string(plan::nameOf(call.function)), " has no code for type ",
                                               std::string(plan::nameOf(call.type))));
}

absl::Status IndexRange::check(const int64_t *indices, int64_t count) const {
  for (int64_t i = 0; i < count; ++i)
    if (indices[i] < -global || indices[i] >= global)
      return absl::OutOfRangeError(
          absl::StrCat("index at position ", i, " must be in [", -global, ", ", global, "), got ", indices[i]));
  return absl::OkStatus();
}

TaskOr ds::runtime::buildLibraryCall(const plan::LibraryCallT &call, const Bindings &bindings) {
  DS_RETURN_IF_ERROR(checkArity(call));
  switch (call.function) {
  case plan::LibraryFunction::Iota:
    return buildIota(call, bindings);
  case plan::LibraryFunction::GatherRows:
    return buildGatherRows(call, bindings);
  case plan::LibraryFunction::ScatterAddRows:
    return buildScatterAddRows(call, bindings);
  case plan::LibraryFunction::GatherElements:
    return buildGatherElements(call, bindings);
  case plan::LibraryFunction::ScatterElements:
    return buildScatterElements(call, bindings);
  case plan::LibraryFunction::TopK:
    return buildTopK(call, bindings);
  case plan::LibraryFunction::Convolution:
  case plan::LibraryFunction::ConvolutionGradInput:
  case plan::LibraryFunction::ConvolutionGradWeight:
    return buildConvolution(call, bindings);
  case plan::LibraryFunction::MaxPool:
  case plan::LibraryFunction::MaxPoolGrad:
    return buildMaxPool(call, bindings);
  }
  return absl::InvalidArgumentError("invalid plan: unknown library function");
}
