// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Interpreter/DistributedTensor.h"

#include <map>

using namespace ds;

/// The axes that tell apart what two ranks hold.
static AxisList distinguishingAxes(const Layout &layout) {
  AxisList axes = layout.dimAxes();
  axes.insert(axes.end(), layout.flat.begin(), layout.flat.end());
  for (const auto &entry : layout.partial)
    axes.push_back(entry.first);
  return axes;
}

Placement::Placement(Layout layout, Shape shape, Mesh mesh)
    : placedLayout(normalized(std::move(layout), shape)), globalShape(std::move(shape)), placedMesh(std::move(mesh)) {
  const AxisList axes = distinguishingAxes(placedLayout);
  std::map<std::vector<int64_t>, int64_t> first;
  for (int64_t rank = 0; rank < numRanks(); ++rank) {
    localIndices.push_back(ownedIndices(placedLayout, globalShape, placedMesh, rank));
    if (!isHeld(rank)) {
      localShapes.push_back({0});
      replicas.push_back(rank);
      continue;
    }
    const bool isFlat = !placedLayout.flat.empty();
    localShapes.push_back(isFlat ? Shape{static_cast<int64_t>(localIndices.back().size())}
                                 : blockShape(placedLayout, globalShape, placedMesh, rank));
    std::vector<int64_t> coordinates;
    for (const std::string &axis : axes)
      coordinates.push_back(placedMesh.coordinate(rank, axis));
    replicas.push_back(first.emplace(coordinates, rank).first->second);
  }
}

std::vector<int64_t> Placement::positions(int64_t rank, size_t dim) const {
  Layout line;
  line.dims = {placedLayout.dims[dim]};
  return ownedIndices(line, {globalShape[dim]}, placedMesh, rank);
}
