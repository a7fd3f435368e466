// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How a tensor lies on a mesh: the algebra of docs/layouts.md, in plain C++.

#ifndef DS_LAYOUT_LAYOUT_H
#define DS_LAYOUT_LAYOUT_H

#include "ds/Layout/Mesh.h"

#include <map>
#include <set>

namespace ds {

using AxisList = std::vector<std::string>;
using Shape = std::vector<int64_t>;

/// The operation that folds the summands of a `partial` axis.
enum class ReduceKind : uint8_t { Sum, Max, Min, And, Or };
std::string_view reduceKindName(ReduceKind kind);
std::optional<ReduceKind> findReduceKind(std::string_view name);

/// Where the bytes are kept.
enum class MemoryTier : uint8_t { Device, Host, Disk };
std::string_view memoryTierName(MemoryTier tier);
std::optional<MemoryTier> findMemoryTier(std::string_view name);

/// One factor of a tensor dim: `size` elements, split over `axes`, the leftmost axis major.
/// `size == kWholeDim` stands for the dim's own size and is used iff the dim has this one factor.
inline constexpr int64_t kWholeDim = 0;
struct Factor {
  int64_t size = kWholeDim;
  AxisList axes;

  friend bool operator==(const Factor &a, const Factor &b) { return a.size == b.size && a.axes == b.axes; }
  friend bool operator<(const Factor &a, const Factor &b) {
    return a.size != b.size ? a.size < b.size : a.axes < b.axes;
  }
};
/// The factors of one dim, major first; never empty.
using DimLayout = std::vector<Factor>;

/// A layout without its tensor's shape. Default: of rank 0 and replicated on the device of every rank.
struct Layout {
  std::vector<DimLayout> dims;
  std::map<std::string, ReduceKind> partial;   ///< axis -> how its summands fold: the same for all axes
  AxisList flat;                               ///< axes over the row-major vector of the block, major first
  std::map<std::string, std::set<int64_t>> at; ///< axis -> the coordinates that hold the value; absent: all
  MemoryTier memory = MemoryTier::Device;

  /// The replicated layout of a tensor with `rank` dims.
  static Layout replicated(size_t rank) {
    return Layout{std::vector<DimLayout>(rank, DimLayout(1)), {}, {}, {}, MemoryTier::Device};
  }

  /// Whether this is the layout of a tensor type without encoding: the whole value on the device of every rank.
  bool isReplicated() const;
  /// All axes of the factors of all dims, in order.
  AxisList dimAxes() const;
  /// Prints the short form: `[{dp}, (3)(4{tp})(16)], partial = {dp, sp}, flat = {x}, at = {pp = 1}, memory = host`.
  std::string str() const;

  friend bool operator==(const Layout &a, const Layout &b) {
    return a.dims == b.dims && a.partial == b.partial && a.flat == b.flat && a.at == b.at && a.memory == b.memory;
  }
  friend bool operator!=(const Layout &a, const Layout &b) { return !(a == b); }
  friend bool operator<(const Layout &a, const Layout &b);
};

/// Why `layout` is not a layout of a tensor of `shape` on `mesh` (an unknown axis, an axis used twice, factors that do
/// not multiply to their dim, `at` coordinates outside the axis, ...), or nothing. Lower-case, no final period.
/// Partial axes of different operations are a fault: a sum of maxima is no maximum of sums, so the value would depend
/// on which axis is reduced first.
std::optional<std::string> findLayoutFault(const Layout &layout, const Shape &shape, const Mesh &mesh);

/// The canonical spelling of `layout` for `shape`: no factor of size 1 without axes beside others, neighbouring
/// factors without axes merged, a lone factor spelt kWholeDim. Layouts are compared in this form.
Layout normalized(Layout layout, const Shape &shape);

/// Replaces kWholeDim by the dim's size; the inverse of that part of `normalized`.
DimLayout resolvedDim(const DimLayout &dim, int64_t size);

//===----------------------------------------------------------------------===//
// Extents: what each rank owns
//===----------------------------------------------------------------------===//

/// The half-open range [begin, end).
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
  friend bool operator==(const Interval &a, const Interval &b) { return a.begin == b.begin && a.end == b.end; }
};

/// Part `index` of `whole` cut for `axis`: blocks of ceil(length / size), the last ones shorter or empty; with weights
/// the cuts are at floor(length * (sum of weights before) / (sum of all)).
Interval split(Interval whole, const MeshAxis &axis, int64_t index);

/// I(n, axes, rank) of docs/layouts.md: the fold of `split` over `axes` with the coordinates of `rank`, from [0, n).
Interval ownedInterval(int64_t n, const AxisList &axes, const Mesh &mesh, int64_t rank);

/// Whether `rank` holds anything of a value with this `at`.
bool holdsValue(const Layout &layout, const Mesh &mesh, int64_t rank);

/// The extents of `rank`'s block, one per tensor dim (the product over the dim's factors); cut neither by `flat` nor by
/// `at`.
Shape blockShape(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank);

/// The part of `rank`'s row-major block vector that it holds: all of it unless the layout is flat.
Interval flatInterval(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank);

/// The number of elements `rank` holds; 0 outside `at`.
int64_t ownedElements(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank);
/// The largest `ownedElements` over all ranks: the size of the buffer.
int64_t maxOwnedElements(const Layout &layout, const Shape &shape, const Mesh &mesh);
/// The largest extent over all ranks for each dim.
Shape maxBlockShape(const Layout &layout, const Shape &shape, const Mesh &mesh);

/// For each element that `rank` holds, in the order it is stored, its row-major number in the global tensor.
std::vector<int64_t> ownedIndices(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank);

//===----------------------------------------------------------------------===//
// Factor lists: how reshapes, slices and concatenations see a dim
//===----------------------------------------------------------------------===//

/// Cuts the factor list of one dim (of product(sizes) elements) into one list per size, major first. A factor without
/// axes splits freely; a factor of n elements with axes splits as n1 * n2 only if the axes go to n1 and every cut of n
/// is a multiple of n2. Nothing if that does not hold. The results are resolved, not normalized.
std::optional<std::vector<DimLayout>> splitDim(const DimLayout &dim, const Shape &sizes, const Mesh &mesh);

/// The factor list of the dim made of `parts`, major first; the inverse of splitDim. Parts must be resolved.
DimLayout joinDims(const std::vector<DimLayout> &parts);

/// Whether each rank's part of a dim is one interval of its elements: no factor but the major one has axes.
bool isInterval(const DimLayout &dim);

/// Two resolved factor lists of one dim, each cut where the other one is, so that both have the same sizes:
/// `(2{a})(8)` and `(8)(2{a})` become `(2{a})(4)(2)` and `(2)(4)(2{a})`. Nothing if a factor with axes would be cut, as
/// in `(4{a})(2)` beside `(2)(4{b})`.
std::optional<std::pair<DimLayout, DimLayout>> commonSpelling(const DimLayout &a, const DimLayout &b);

} // namespace ds

#endif // DS_LAYOUT_LAYOUT_H
