// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryTask.h"

#include "absl/strings/str_cat.h"

using namespace ds;
using namespace ds::runtime;

absl::StatusOr<LibraryOperands> LibraryOperands::bind(const plan::LibraryCallT &call, const Bindings &bindings) {
  if (const auto fault = plan::findLibraryFault(call))
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", *fault));
  LibraryOperands operands(call, bindings);
  for (plan::ArgumentName name : plan::signatureOf(call.function).extents)
    for (uint32_t id : operands.arguments.extents(name)) {
      DS_ASSIGN_OR_RETURN(const plan::ExtentValue value, bindings.extent(id));
      operands.extents[name].push_back(value);
    }
  return operands;
}

std::vector<int64_t> LibraryOperands::lengths(plan::ArgumentName name) const {
  std::vector<int64_t> result;
  for (const plan::ExtentValue &value : extents.at(name))
    result.push_back(value.length);
  return result;
}

int64_t LibraryOperands::number(plan::ArgumentName name, int64_t otherwise) const {
  const std::vector<int64_t> given = arguments.ints(name);
  return given.empty() ? otherwise : given.front();
}

absl::StatusOr<char *> LibraryOperands::memory(plan::ArgumentName name) const {
  const std::optional<size_t> place = arguments.placeOf(name);
  if (!place)
    return nullptr;
  const plan::LibraryBuffer &buffer = plan::signatureOf(call.function).buffers[*place];
  std::vector<int64_t> sizes;
  for (plan::ArgumentName dim : buffer.dims) {
    const std::vector<int64_t> some = arguments.isExtent(dim) ? lengths(dim) : numbers(dim);
    sizes.insert(sizes.end(), some.begin(), some.end());
  }
  const int64_t divisor = buffer.divisor.empty() ? 1 : std::max<int64_t>(length(buffer.divisor), 1);
  return bindings.elements(call.buffers[*place], productOf(sizes) / divisor,
                           buffer.holdsIndices ? plan::DataType::I64 : call.type);
}

absl::Status ds::runtime::unsupportedType(const LibraryOperands &operands) {
  return absl::UnimplementedError(absl::StrCat(std::string(plan::nameOf(operands.function())), " has no code for type ",
                                               std::string(plan::nameOf(operands.type()))));
}

absl::Status IndexRange::check(const int64_t *indices, int64_t count) const {
  for (int64_t i = 0; i < count; ++i)
    if (indices[i] < -global || indices[i] >= global)
      return absl::OutOfRangeError(
          absl::StrCat("index at position ", i, " must be in [", -global, ", ", global, "), got ", indices[i]));
  return absl::OkStatus();
}

TaskOr ds::runtime::buildLibraryCall(const plan::LibraryCallT &call, const Bindings &bindings) {
  DS_ASSIGN_OR_RETURN(const LibraryOperands operands, LibraryOperands::bind(call, bindings));
  switch (call.function) {
  case plan::LibraryFunction::Iota:
    return buildIota(operands);
  case plan::LibraryFunction::GatherRows:
    return buildGatherRows(operands);
  case plan::LibraryFunction::ScatterAddRows:
    return buildScatterAddRows(operands);
  case plan::LibraryFunction::GatherElements:
    return buildGatherElements(operands);
  case plan::LibraryFunction::ScatterElements:
    return buildScatterElements(operands);
  case plan::LibraryFunction::TopK:
    return buildTopK(operands);
  case plan::LibraryFunction::Convolution:
  case plan::LibraryFunction::ConvolutionGradInput:
  case plan::LibraryFunction::ConvolutionGradWeight:
    return buildConvolution(operands);
  case plan::LibraryFunction::MaxPool:
  case plan::LibraryFunction::MaxPoolGrad:
    return buildMaxPool(operands);
  }
  return absl::InvalidArgumentError("invalid plan: unknown library function");
}
