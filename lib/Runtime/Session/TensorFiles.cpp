// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/TensorFiles.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <filesystem>
#include <limits>

namespace ds::runtime {

int64_t StoredTensor::elements() const { return checkedElements(shape, type).value_or(0); }

std::string StoredTensor::typeAndShape() const {
  return absl::StrCat(std::string(elementTypeName(type)), " ", shapeName(shape));
}

std::string shapeName(const std::vector<int64_t> &shape) { return absl::StrCat("[", absl::StrJoin(shape, ", "), "]"); }

std::optional<std::string> numpyPathOf(const std::string &folder, const std::string &name) {
  for (const std::string &part : std::vector<std::string>(absl::StrSplit(name, '/')))
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos)
      return std::nullopt;
  return (std::filesystem::path(folder) / (name + ".npy")).string();
}

std::optional<int64_t> checkedElements(const std::vector<int64_t> &shape, ElementType type) {
  int64_t elements = 1, bytes = 0;
  bool isEmpty = false;
  for (const int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    isEmpty |= dim == 0;
  }
  if (isEmpty)
    return 0;
  for (const int64_t dim : shape)
    if (__builtin_mul_overflow(elements, dim, &elements))
      return std::nullopt;
  if (__builtin_mul_overflow(elements, elementBytes(type), &bytes))
    return std::nullopt;
  return elements;
}

} // namespace ds::runtime
