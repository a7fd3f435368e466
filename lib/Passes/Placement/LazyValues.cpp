// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LazyValues.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ds;

bool ds::isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

Layout ds::makeableLayout(Value value, const Layout &wanted) {
  Layout made = wanted;
  if (isSplat(value)) { // each rank has any part of it, but only zeros are their own sum
    if (!isZero(value))
      made.partial.clear();
    return made;
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  const bool repeatsScalar = broadcast && broadcast.getInput().getType().getRank() == 0;
  if ((!wanted.flat.empty() && !repeatsScalar) || wanted.memory != MemoryTier::Device) {
    made = Layout();
    made.dims = wanted.dims;
  }
  // An iota numbers an interval; of a dim that is cut otherwise each rank takes its part.
  if (auto iota = value.getDefiningOp<IotaOp>(); iota && !isInterval(made.dims[iota.getDim()]))
    made.dims[iota.getDim()] = DimLayout(1);
  return normalized(made, shapeOf(value.getType()));
}

Layout ds::inputLayoutOf(BroadcastOp broadcast, const Layout &made) {
  Layout input;
  for (int64_t dim : broadcast.getDims())
    input.dims.push_back(made.dims[dim]);
  input.partial = made.partial;
  return input;
}
