// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What is decided about a function before its types change.

#ifndef DS_LIB_PASSES_PLACEMENT_LAYOUTASSIGNMENT_H
#define DS_LIB_PASSES_PLACEMENT_LAYOUTASSIGNMENT_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// The layout of each value of a function, and the one in which each user takes it. All layouts are normalized.
class LayoutAssignment {
public:
  /// The layout of `value`, if it was assigned one.
  const Layout *find(mlir::Value value) const { return findIn(values, value); }
  /// The same; a value that was assigned none is whole on every rank.
  Layout of(mlir::Value value) const {
    const Layout *layout = find(value);
    return layout ? *layout : Layout::replicated(shapeOf(value.getType()).size());
  }
  void assign(mlir::Value value, const Layout &layout) { values[value] = normalized(layout, shapeOf(value.getType())); }

  /// The layout in which a user takes an operand, if it asked for one: whatever else the operand's value has is cast.
  const Layout *findWanted(mlir::OpOperand &operand) const { return findIn(wanted, &operand); }
  void want(mlir::OpOperand &operand, const Layout &layout) {
    wanted[&operand] = normalized(layout, shapeOf(operand.get().getType()));
  }

private:
  template <typename Key> static const Layout *findIn(const llvm::DenseMap<Key, Layout> &map, Key key) {
    auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  llvm::DenseMap<mlir::Value, Layout> values;
  llvm::DenseMap<mlir::OpOperand *, Layout> wanted;
};

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_LAYOUTASSIGNMENT_H
