// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The grid of ranks. Plain C++: the compiler and the runtime share it.

#ifndef DS_LAYOUT_MESH_H
#define DS_LAYOUT_MESH_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ds {

/// One axis of the mesh. `weights` (empty, or one positive weight per coordinate) make the split along it uneven.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
  std::vector<int64_t> weights;

  friend bool operator==(const MeshAxis &a, const MeshAxis &b) {
    return a.name == b.name && a.size == b.size && a.weights == b.weights;
  }
};

/// A grid of ranks. A rank is the row-major number of its coordinates, the last axis fastest.
class Mesh {
public:
  Mesh() = default;
  explicit Mesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis> &axes() const { return meshAxes; }
  int64_t numRanks() const { return ranks; }

  /// The axis called `name`, or null.
  const MeshAxis *findAxis(std::string_view name) const;
  /// The size of the axis called `name`, which must exist.
  int64_t axisSize(std::string_view name) const;
  /// The coordinate of `rank` on the axis called `name`, which must exist.
  int64_t coordinate(int64_t rank, std::string_view name) const;
  /// The ranks that differ from `rank` at most on the axis called `name`, in ascending coordinate order.
  std::vector<int64_t> group(int64_t rank, std::string_view name) const;

private:
  size_t indexOf(std::string_view name) const;

  std::vector<MeshAxis> meshAxes;
  std::vector<int64_t> strides; ///< ranks between neighbours on each axis
  int64_t ranks = 1;
};

} // namespace ds

#endif // DS_LAYOUT_MESH_H
