// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LibraryArguments.h"

#include "ds/Plan/Check.h"
#include "ds/Plan/Extents.h"

#include "absl/strings/str_cat.h"

using namespace ds::plan;

namespace {
/// One buffer argument: the extents (by their place in the call) that multiply to its elements.
struct Argument {
  bool isOutput;
  std::vector<size_t> extents;
  int64_t count = 1;
  bool holdsIndices = false; ///< i64 whatever the call's type
  std::optional<size_t> divisor = std::nullopt;
};

/// The arguments of one function.
struct Signature {
  std::vector<Argument> buffers;
  size_t minBuffers, numExtents, minInts;
};
} // namespace

static constexpr bool kIn = false, kOut = true, kIndices = true;

/// The product of `count` ints of the call from `first`, saturating; they must be positive.
static int64_t productOfInts(const LibraryCallT &call, size_t first, size_t count) {
  int64_t product = 1;
  for (size_t i = first; i < first + count && i < call.ints.size(); ++i)
    if (call.ints[i] < 0 || __builtin_mul_overflow(product, call.ints[i], &product))
      return kMaxElements;
  return product;
}

/// The number of spatial dims: the first of the ints, 1 or 2.
static size_t spatialDims(const LibraryCallT &call) { return !call.ints.empty() && call.ints[0] == 2 ? 2 : 1; }

static std::vector<size_t> concat(std::vector<size_t> list, size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i)
    list.push_back(i);
  return list;
}

/// Extents: N, Ci, Co, groups, in.., out..; the weight is [Co, Ci / groups, kernel..].
static Signature convolutionSignature(const LibraryCallT &call) {
  size_t dims = spatialDims(call);
  Argument input{kIn, concat({0, 1}, 4, dims)}, output{kIn, concat({0, 2}, 4 + dims, dims)};
  Argument weight{kIn, {1, 2}, productOfInts(call, 1, dims), false, 3}, bias{kIn, {2}};
  size_t extents = 4 + 2 * dims, ints = 1 + 5 * dims;
  switch (call.function) {
  case LibraryFunction::Convolution:
    output.isOutput = true;
    return {{input, weight, output, bias}, 3, extents, ints};
  case LibraryFunction::ConvolutionGradInput:
    input.isOutput = true;
    return {{output, weight, input}, 3, extents, ints};
  default:
    weight.isOutput = bias.isOutput = true;
    return {{input, output, weight, bias}, 3, extents, ints};
  }
}

static Signature poolSignature(const LibraryCallT &call) {
  size_t dims = spatialDims(call), extents = 1 + 2 * dims, ints = 1 + 5 * dims;
  Argument input{kIn, concat({0}, 1, dims)}, output{kIn, concat({0}, 1 + dims, dims)};
  if (call.function == LibraryFunction::MaxPool) {
    output.isOutput = true;
    return {{input, output}, 2, extents, ints};
  }
  Argument gradient = input;
  gradient.isOutput = true;
  return {{input, output, gradient}, 3, extents, ints};
}

static Signature signatureOf(const LibraryCallT &call) {
  switch (call.function) {
  case LibraryFunction::Iota:
    return {{{kOut, {0, 1, 2}}}, 1, 3, 0};
  case LibraryFunction::GatherRows:
    return {{{kIn, {0, 1}}, {kIn, {2}, 1, kIndices}, {kOut, {2, 1}}}, 3, 3, 1};
  case LibraryFunction::ScatterAddRows:
    return {{{kIn, {2}, 1, kIndices}, {kIn, {2, 1}}, {kOut, {0, 1}}}, 3, 3, 1};
  case LibraryFunction::GatherElements:
    return {{{kIn, {0, 1, 3}}, {kIn, {0, 2, 3}, 1, kIndices}, {kOut, {0, 2, 3}}}, 3, 4, 1};
  case LibraryFunction::ScatterElements:
    return {{{kIn, {0, 2, 3}, 1, kIndices}, {kIn, {0, 2, 3}}, {kOut, {0, 1, 3}}}, 3, 4, 2};
  case LibraryFunction::TopK: {
    int64_t k = productOfInts(call, 0, 1);
    return {{{kIn, {0, 1, 2}}, {kOut, {0, 2}, k}, {kOut, {0, 2}, k, kIndices}}, 3, 3, 2};
  }
  case LibraryFunction::Convolution:
  case LibraryFunction::ConvolutionGradInput:
  case LibraryFunction::ConvolutionGradWeight:
    return convolutionSignature(call);
  case LibraryFunction::MaxPool:
  case LibraryFunction::MaxPoolGrad:
    return poolSignature(call);
  }
  return {{}, 0, 0, 0};
}

std::optional<std::string> ds::plan::findLibraryFault(const LibraryCallT &call) {
  if (call.function > LibraryFunction::MAX)
    return absl::StrCat("refers to unknown library function ", static_cast<int>(call.function));
  Signature signature = signatureOf(call);
  std::string name(nameOf(call.function));
  if (call.buffers.size() < signature.minBuffers || call.buffers.size() > signature.buffers.size())
    return absl::StrCat(name, " must have ", signature.minBuffers, " to ", signature.buffers.size(), " buffers, got ",
                        call.buffers.size());
  if (call.extents.size() != signature.numExtents)
    return absl::StrCat(name, " must have ", signature.numExtents, " extents, got ", call.extents.size());
  if (call.ints.size() < signature.minInts)
    return absl::StrCat(name, " must have at least ", signature.minInts, " ints, got ", call.ints.size());
  return std::nullopt;
}

std::vector<Access> ds::plan::libraryAccesses(const LibraryCallT &call) {
  Signature signature = signatureOf(call);
  std::vector<Access> list;
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    const Argument &argument = signature.buffers[i];
    Access access{call.buffers[i], !argument.isOutput, argument.isOutput, argument.count};
    for (size_t extent : argument.extents)
      access.extents.push_back(call.extents[extent]);
    if (argument.divisor)
      access.divisor = call.extents[*argument.divisor];
    access.elementBytes = sizeOf(argument.holdsIndices ? DataType::I64 : call.type);
    list.push_back(std::move(access));
  }
  return list;
}
