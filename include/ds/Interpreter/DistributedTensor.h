// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A value on N ranks, and its casts between layouts by their definition: docs/layouts.md, "Meaning" and "Casts".

#ifndef DS_INTERPRETER_DISTRIBUTED_TENSOR_H
#define DS_INTERPRETER_DISTRIBUTED_TENSOR_H

#include "ds/Interpreter/DenseTensor.h"

#include <memory>

namespace ds {

/// Where the elements of a tensor of one shape and layout lie on a mesh.
class Placement {
public:
  Placement(Layout layout, Shape shape, Mesh mesh);

  const Layout &layout() const { return placedLayout; }
  const Shape &shape() const { return globalShape; }
  const Mesh &mesh() const { return placedMesh; }
  int64_t numRanks() const { return placedMesh.numRanks(); }
  bool isHeld(int64_t rank) const { return holdsValue(placedLayout, placedMesh, rank); }

  /// The shape of `rank`'s part: its block, or [length] of a flat piece; [0] outside `at`.
  const Shape &localShape(int64_t rank) const { return localShapes[rank]; }
  /// For each element that `rank` holds its row-major number in the global tensor.
  const std::vector<int64_t> &indices(int64_t rank) const { return localIndices[rank]; }
  /// The coordinates in dim `dim` of `rank`'s block, ascending.
  std::vector<int64_t> positions(int64_t rank, size_t dim) const;
  /// The first rank that holds a copy of what `rank` holds.
  int64_t firstReplica(int64_t rank) const { return replicas[rank]; }

private:
  Layout placedLayout; ///< normalized
  Shape globalShape;
  Mesh placedMesh;
  std::vector<Shape> localShapes;
  std::vector<std::vector<int64_t>> localIndices;
  std::vector<int64_t> replicas;
};

/// A value: one local tensor per rank.
struct DistributedTensor {
  std::shared_ptr<const Placement> placement;
  std::vector<DenseTensor> locals; ///< one per rank

  bool isFloat() const { return locals.front().isFloat; }
};

/// What `kind` folds away: 0 for a sum, the lowest number for max, ... ; `isFloat` and the integer `width` tell the
/// numbers.
struct NeutralElement {
  double asFloat;
  int64_t asInt;
};
NeutralElement neutralElement(ReduceKind kind, unsigned width);
double foldFloats(ReduceKind kind, double a, double b);
int64_t foldInts(ReduceKind kind, int64_t a, int64_t b);

/// Spreads `value` as `placement` says. Summands of partial axes are random with seed `seed`, equal on replicas.
/// `width` is the width of integer elements.
DistributedTensor distribute(const DenseTensor &value, std::shared_ptr<const Placement> placement, unsigned width,
                             uint64_t seed);

/// The same value in another layout, of the same shape and mesh. Partial axes that stay keep their summands; those that
/// go are folded in ascending coordinate order; new ones get the value at the lowest coordinate that holds it, else the
/// neutral element.
DistributedTensor castTo(const DistributedTensor &value, std::shared_ptr<const Placement> placement, unsigned width);

/// The global tensor: every partial axis folded, every element from the first rank that holds it.
DenseTensor assemble(const DistributedTensor &value, unsigned width);

/// How two replicas of `value` differ, or nothing: a text like "ranks 0 and 2 must have equal bits, got 1 and 3 at [0,
/// 4]".
std::optional<std::string> findReplicaFault(const DistributedTensor &value);

} // namespace ds

#endif // DS_INTERPRETER_DISTRIBUTED_TENSOR_H
