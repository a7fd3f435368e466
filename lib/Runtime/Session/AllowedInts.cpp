// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "AllowedInts.h"

#include "ds/Plan/Inspect.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace ds::runtime {

/// Where element `index` of a tensor of `shape` stands: `sample 3, position 17`.
static std::string placeName(const Shape &shape, int64_t index) {
  std::vector<int64_t> place(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; index /= shape[dim])
    place[dim] = index % shape[dim];
  if (place.empty())
    return "the scalar";
  std::string name = absl::StrCat("sample ", place[0]);
  if (place.size() > 1)
    absl::StrAppend(&name, ", position ", absl::StrJoin(place.begin() + 1, place.end(), ", "));
  return name;
}

template <typename T>
static absl::Status checkElements(const plan::IntSetT &allowed, const Mesh &mesh, int64_t rank,
                                  const HeldTensor &held) {
  const auto *elements = static_cast<const T *>(held.buffer.data);
  const auto isAllowed = [&](int64_t value) {
    return (allowed.low <= value && value < allowed.high) ||
           std::find(allowed.others.begin(), allowed.others.end(), value) != allowed.others.end();
  };
  return forEachOwnedRun(held.layout, held.shape, mesh, rank, [&](const OwnedRun &run) -> absl::Status {
    const T *begin = elements + run.local, *end = begin + run.length;
    const T *found = std::find_if_not(begin, end, isAllowed);
    if (found == end)
      return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(placeName(held.shape, run.global + (found - begin)), ": must be in ",
                                                   plan::formatIntSet(allowed), ", got ",
                                                   static_cast<int64_t>(*found)));
  });
}

absl::Status checkAllowed(const plan::IntSetT &allowed, const Mesh &mesh, int64_t rank, const HeldTensor &held) {
  switch (held.type) {
  case ElementType::I64:
    return checkElements<int64_t>(allowed, mesh, rank, held);
  case ElementType::I32:
    return checkElements<int32_t>(allowed, mesh, rank, held);
  case ElementType::I8:
    return checkElements<int8_t>(allowed, mesh, rank, held);
  case ElementType::Bool:
    return checkElements<uint8_t>(allowed, mesh, rank, held);
  default:
    return absl::InvalidArgumentError("invalid plan: an input with allowed integers must be of integers");
  }
}

} // namespace ds::runtime
