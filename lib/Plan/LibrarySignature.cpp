// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/LibrarySignature.h"

#include "ds/Plan/Extents.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// The signatures
//===----------------------------------------------------------------------===//

using Dims = std::vector<ArgumentName>;

static LibraryBuffer input(ArgumentName name, Dims dims) { return {name, false, false, false, std::move(dims)}; }
static LibraryBuffer output(ArgumentName name, Dims dims) { return {name, true, false, false, std::move(dims)}; }
static LibraryBuffer indices(ArgumentName name, Dims dims) { return {name, false, true, false, std::move(dims)}; }
static LibraryBuffer outputIndices(ArgumentName name, Dims dims) { return {name, true, true, false, std::move(dims)}; }
static LibraryBuffer optional(LibraryBuffer buffer) {
  buffer.isOptional = true;
  return buffer;
}
static LibraryBuffer perGroup(LibraryBuffer buffer) {
  buffer.divisor = "groups";
  return buffer;
}

static LibrarySignature convolution(std::vector<LibraryBuffer> buffers) {
  return {std::move(buffers),
          {"N", "Ci", "Co", "groups", "in..", "out.."},
          {"S", "kernel..", "strides..", "padBegin..", "padEnd..", "dilations.."}};
}

static LibrarySignature pool(std::vector<LibraryBuffer> buffers) {
  return {std::move(buffers),
          {"planes", "in..", "out.."},
          {"S", "kernel..", "strides..", "padBegin..", "padEnd..", "dilations.."}};
}

static LibrarySignature makeSignature(LibraryFunction function) {
  const Dims data = {"outer", "n", "inner"}, picked = {"outer", "m", "inner"}, best = {"outer", "k", "inner"};
  const Dims image = {"N", "Ci", "in.."}, result = {"N", "Co", "out.."}, weight = {"Co", "Ci", "kernel.."};
  const Dims planesIn = {"planes", "in.."}, planesOut = {"planes", "out.."};
  switch (function) {
  case LibraryFunction::Iota:
    return {{output("out", data)}, {"outer", "n", "inner"}, {"start", "step"}, 2};
  case LibraryFunction::GatherRows:
    return {{input("table", {"rows", "width"}), indices("ids", {"count"}), output("out", {"count", "width"})},
            {"rows", "width", "count"},
            {"N"}};
  case LibraryFunction::ScatterAddRows:
    return {{indices("ids", {"count"}), input("updates", {"count", "width"}), output("out", {"rows", "width"})},
            {"rows", "width", "count"},
            {"N"}};
  case LibraryFunction::GatherElements:
    return {
        {input("data", data), indices("indices", picked), output("out", picked)}, {"outer", "n", "m", "inner"}, {"N"}};
  case LibraryFunction::ScatterElements:
    return {{indices("indices", picked), input("updates", picked), output("out", data)},
            {"outer", "n", "m", "inner"},
            {"N", "add"}};
  case LibraryFunction::TopK:
    return {{input("data", data), output("values", best), outputIndices("indices", best)},
            {"outer", "n", "inner"},
            {"k", "largest"}};
  case LibraryFunction::Convolution:
    return convolution({input("input", image), perGroup(input("weight", weight)), output("output", result),
                        optional(input("bias", {"Co"}))});
  case LibraryFunction::ConvolutionGradInput:
    return convolution({input("gradOutput", result), perGroup(input("weight", weight)), output("gradInput", image)});
  case LibraryFunction::ConvolutionGradWeight:
    return convolution({input("input", image), input("gradOutput", result), perGroup(output("gradWeight", weight)),
                        optional(output("gradBias", {"Co"}))});
  case LibraryFunction::MaxPool:
    return pool({input("input", planesIn), output("output", planesOut)});
  case LibraryFunction::MaxPoolGrad:
    return pool({input("input", planesIn), input("gradOutput", planesOut), output("gradInput", planesIn)});
  }
  return {};
}

const LibrarySignature &ds::plan::signatureOf(LibraryFunction function) {
  static const std::vector<LibrarySignature> all = [] {
    std::vector<LibrarySignature> list;
    for (LibraryFunction each : EnumValuesLibraryFunction())
      list.push_back(makeSignature(each));
    return list;
  }();
  return all[static_cast<size_t>(function)];
}

//===----------------------------------------------------------------------===//
// Arguments by name
//===----------------------------------------------------------------------===//

static bool isPerSpatialDim(ArgumentName name) { return name.size() > 2 && name.substr(name.size() - 2) == ".."; }
static bool hasSpatialDims(const LibrarySignature &signature) {
  return !signature.ints.empty() && signature.ints.front() == "S";
}

/// How many numbers stand for `names` together.
static size_t countOf(const std::vector<ArgumentName> &names, size_t spatialDims) {
  return std::accumulate(names.begin(), names.end(), size_t(0), [spatialDims](size_t sum, ArgumentName name) {
    return sum + (isPerSpatialDim(name) ? spatialDims : 1);
  });
}

/// The numbers of `list` that belong to `name`, one of `names`.
template <typename T>
static std::vector<T> pick(const std::vector<T> &list, const std::vector<ArgumentName> &names, ArgumentName name,
                           size_t spatialDims) {
  const auto found = std::find(names.begin(), names.end(), name);
  assert(found != names.end() && "the signature must have the argument");
  const size_t first = countOf({names.begin(), found}, spatialDims);
  if (first >= list.size())
    return {};
  return {list.begin() + first, list.begin() + first + countOf({name}, spatialDims)};
}

size_t LibraryArguments::spatialDims() const {
  return hasSpatialDims(signature) ? static_cast<size_t>(call.ints.front()) : 0;
}

std::optional<size_t> LibraryArguments::placeOf(ArgumentName buffer) const {
  for (size_t place = 0; place < call.buffers.size(); ++place)
    if (signature.buffers[place].name == buffer)
      return place;
  return std::nullopt;
}

std::vector<uint32_t> LibraryArguments::extents(ArgumentName name) const {
  return pick(call.extents, signature.extents, name, spatialDims());
}
std::vector<int64_t> LibraryArguments::ints(ArgumentName name) const {
  return pick(call.ints, signature.ints, name, spatialDims());
}
bool LibraryArguments::isExtent(ArgumentName name) const {
  return std::find(signature.extents.begin(), signature.extents.end(), name) != signature.extents.end();
}

//===----------------------------------------------------------------------===//
// Checking and making calls
//===----------------------------------------------------------------------===//

/// "1 buffer", "3 buffers" or "3 to 4 buffers".
static std::string rangeText(size_t least, size_t most, const char *what) {
  const std::string numbers = least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most);
  return absl::StrCat(numbers, " ", what, most == 1 ? "" : "s");
}

std::optional<std::string> ds::plan::findLibraryFault(const LibraryCallT &call) {
  if (call.function > LibraryFunction::MAX)
    return absl::StrCat("refers to unknown library function ", static_cast<int>(call.function));
  const LibrarySignature &signature = signatureOf(call.function);
  const std::string_view name = nameOf(call.function);
  size_t spatialDims = 0;
  if (hasSpatialDims(signature)) {
    if (call.ints.empty() || call.ints.front() < 1 || call.ints.front() > static_cast<int64_t>(kMaxSpatialDims))
      return absl::StrCat(std::string(name), " must have 1 to ", kMaxSpatialDims, " spatial dims");
    spatialDims = static_cast<size_t>(call.ints.front());
  }
  const auto fault = [&](const char *what, size_t got, size_t least, size_t most) -> std::optional<std::string> {
    if (got >= least && got <= most)
      return std::nullopt;
    return absl::StrCat(std::string(name), " must have ", rangeText(least, most, what), ", got ", got);
  };
  const size_t buffers = signature.buffers.size(), extents = countOf(signature.extents, spatialDims),
               ints = countOf(signature.ints, spatialDims);
  if (auto text = fault("buffer", call.buffers.size(), buffers - signature.buffers.back().isOptional, buffers))
    return text;
  if (auto text = fault("extent", call.extents.size(), extents, extents))
    return text;
  return fault("int", call.ints.size(), ints - signature.optionalInts, ints);
}

/// Appends the numbers of `values` in the order of `names`.
template <typename T>
static void append(std::vector<T> &list, const std::vector<ArgumentName> &names,
                   const std::map<ArgumentName, std::vector<T>> &values) {
  for (ArgumentName name : names)
    if (const auto found = values.find(name); found != values.end())
      list.insert(list.end(), found->second.begin(), found->second.end());
}

LibraryCallT ds::plan::makeLibraryCall(LibraryFunction function, DataType type, const LibraryValues &values) {
  const LibrarySignature &signature = signatureOf(function);
  LibraryCallT call;
  call.function = function;
  call.type = type;
  for (const LibraryBuffer &buffer : signature.buffers)
    if (const auto found = values.buffers.find(buffer.name); found != values.buffers.end())
      call.buffers.push_back(found->second);
  append(call.extents, signature.extents, values.extents);
  append(call.ints, signature.ints, values.ints);
  assert(call.buffers.size() == values.buffers.size() && !findLibraryFault(call) &&
         "the names must be those of the signature");
  return call;
}
