// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The factor list of a dim: its canonical spelling, and how reshapes cut and join it.

#include "ds/Layout/Layout.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>

using namespace ds;

static bool isWhole(const DimLayout &dim) { return dim.size() == 1 && dim.front().size == kWholeDim; }

DimLayout ds::resolvedDim(const DimLayout &dim, int64_t size) {
  if (isWhole(dim))
    return {Factor{size, dim.front().axes}};
  return dim;
}

static DimLayout normalizedDim(const DimLayout &dim, int64_t size) {
  DimLayout result;
  for (const Factor &factor : resolvedDim(dim, size)) {
    const bool isFree = factor.axes.empty();
    if (isFree && factor.size == 1)
      continue;
    if (isFree && !result.empty() && result.back().axes.empty())
      result.back().size *= factor.size;
    else
      result.push_back(factor);
  }
  if (result.empty())
    result.emplace_back();
  if (result.size() == 1)
    result.front().size = kWholeDim;
  return result;
}

Layout ds::normalized(Layout layout, const Shape &shape) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (!isWhole(layout.dims[i]))
      layout.dims[i] = normalizedDim(layout.dims[i], shape[i]);
  return layout;
}

//===----------------------------------------------------------------------===//
// splitDim, joinDims
//===----------------------------------------------------------------------===//

/// Whether the cuts of `factor` are the cuts of its major part of `major` elements.
static bool cutsAgree(const Factor &factor, int64_t major, const Mesh &mesh) {
  const int64_t minor = factor.size / major;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    const Interval whole = ownedInterval(factor.size, factor.axes, mesh, rank);
    const Interval part = ownedInterval(major, factor.axes, mesh, rank);
    const bool areBothEmpty = whole.length() == 0 && part.length() == 0;
    if (!areBothEmpty && !(whole == Interval{part.begin * minor, part.end * minor}))
      return false;
  }
  return true;
}

namespace {
/// Takes factors off the major end of a factor list.
class FactorReader {
public:
  FactorReader(const DimLayout &dim, const Mesh &mesh) : rest(dim.begin(), dim.end()), mesh(mesh) {}

  /// Moves factors of `size` elements in all to `part`; false if the list has no boundary there.
  bool take(int64_t size, DimLayout &part) {
    int64_t needed = size;
    while (needed > 1) {
      mergeFreeFactors();
      if (rest.empty() || !cutFront(needed))
        return false;
      needed /= rest.front().size;
      moveFront(part);
    }
    if (part.empty() && !rest.empty() && rest.front().size == 1)
      moveFront(part);
    if (part.empty())
      part.push_back({1, {}});
    return true;
  }

  /// Moves what is left, which must be of one element, to `part`.
  bool takeUnits(DimLayout &part) {
    for (; !rest.empty(); moveFront(part))
      if (rest.front().size != 1)
        return false;
    return true;
  }

private:
  void moveFront(DimLayout &part) {
    part.push_back(rest.front());
    rest.pop_front();
  }

  void mergeFreeFactors() {
    while (rest.size() > 1 && rest[0].axes.empty() && rest[1].axes.empty()) {
      rest[1].size *= rest[0].size;
      rest.pop_front();
    }
  }

  /// Makes the front factor divide `needed`, cutting it where it may be cut.
  bool cutFront(int64_t needed) {
    Factor &front = rest.front();
    if (needed % front.size == 0)
      return true;
    const int64_t major = front.axes.empty() ? std::gcd(needed, front.size) : needed;
    if (major == 1 || front.size % major != 0)
      return false;
    if (!front.axes.empty() && !cutsAgree(front, major, mesh))
      return false;
    const int64_t minor = front.size / major;
    front.size = major;
    rest.insert(rest.begin() + 1, Factor{minor, {}});
    return true;
  }

  std::deque<Factor> rest;
  const Mesh &mesh;
};
} // namespace

static bool isFree(const DimLayout &dim) {
  for (const Factor &factor : dim)
    if (!factor.axes.empty())
      return false;
  return true;
}

std::optional<std::vector<DimLayout>> ds::splitDim(const DimLayout &dim, const Shape &sizes, const Mesh &mesh) {
  const int64_t size = std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  if (size == 0) {
    std::vector<DimLayout> parts;
    for (int64_t part : sizes)
      parts.push_back({Factor{part, {}}});
    return isFree(dim) ? std::optional(parts) : std::nullopt;
  }
  const DimLayout resolved = resolvedDim(dim, size);
  const bool isOneFactor = sizes.size() == 1 && resolved.size() == 1 && resolved.front().size == size;
  if (isOneFactor) // nothing to cut
    return std::vector<DimLayout>{resolved};
  FactorReader reader(resolved, mesh);
  std::vector<DimLayout> parts(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!reader.take(sizes[i], parts[i]))
      return std::nullopt;
  DimLayout none;
  if (!reader.takeUnits(parts.empty() ? none : parts.back()) || !isFree(none))
    return std::nullopt;
  return parts;
}

DimLayout ds::joinDims(const std::vector<DimLayout> &parts) {
  DimLayout dim;
  for (const DimLayout &part : parts)
    dim.insert(dim.end(), part.begin(), part.end());
  if (dim.empty())
    dim.push_back({1, {}});
  return dim;
}

bool ds::isInterval(const DimLayout &dim) {
  return std::all_of(dim.begin() + 1, dim.end(), [](const Factor &factor) { return factor.axes.empty(); });
}

//===----------------------------------------------------------------------===//
// commonSpelling
//===----------------------------------------------------------------------===//

/// Moves the minor-most `size` elements of `rest` to `spelt`; false if they are a part of a factor with axes.
static bool moveMinor(DimLayout &rest, int64_t size, DimLayout &spelt) {
  Factor &minor = rest.back();
  if (minor.size == size) {
    spelt.insert(spelt.begin(), minor);
    rest.pop_back();
    return true;
  }
  if (!minor.axes.empty() || minor.size % size != 0)
    return false;
  spelt.insert(spelt.begin(), Factor{size, {}});
  minor.size /= size;
  return true;
}

std::optional<std::pair<DimLayout, DimLayout>> ds::commonSpelling(const DimLayout &a, const DimLayout &b) {
  DimLayout restA = a, restB = b, speltA, speltB;
  while (!restA.empty() && !restB.empty()) {
    const int64_t size = std::min(restA.back().size, restB.back().size);
    if (size == 0 || !moveMinor(restA, size, speltA) || !moveMinor(restB, size, speltB))
      return std::nullopt;
  }
  if (!restA.empty() || !restB.empty())
    return std::nullopt;
  return std::make_pair(std::move(speltA), std::move(speltB));
}
