// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Layout/Mesh.h"

#include <cassert>
#include <utility>

using namespace ds;

Mesh::Mesh(std::vector<MeshAxis> axes) : meshAxes(std::move(axes)), strides(meshAxes.size(), 1) {
  for (size_t i = meshAxes.size(); i-- > 0;) {
    strides[i] = ranks;
    ranks *= meshAxes[i].size;
  }
}

const MeshAxis *Mesh::findAxis(std::string_view name) const {
  for (const MeshAxis &axis : meshAxes)
    if (axis.name == name)
      return &axis;
  return nullptr;
}

size_t Mesh::indexOf(std::string_view name) const {
  const MeshAxis *axis = findAxis(name);
  assert(axis && "the axis must be one of the mesh");
  return axis - meshAxes.data();
}

int64_t Mesh::axisSize(std::string_view name) const { return meshAxes[indexOf(name)].size; }

int64_t Mesh::coordinate(int64_t rank, std::string_view name) const {
  const size_t index = indexOf(name);
  return rank / strides[index] % meshAxes[index].size;
}

std::vector<int64_t> Mesh::group(int64_t rank, std::string_view name) const {
  const size_t index = indexOf(name);
  const int64_t first = rank - coordinate(rank, name) * strides[index];
  std::vector<int64_t> members(meshAxes[index].size);
  for (size_t i = 0; i < members.size(); ++i)
    members[i] = first + static_cast<int64_t>(i) * strides[index];
  return members;
}
