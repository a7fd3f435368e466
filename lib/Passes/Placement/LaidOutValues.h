// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Values in the layouts in which their users want them, while layouts are propagated.

#ifndef DS_LIB_PASSES_PLACEMENT_LAIDOUTVALUES_H
#define DS_LIB_PASSES_PLACEMENT_LAIDOUTVALUES_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// Whether `value` is a constant of zeros, which is partial over any axes.
bool isZero(mlir::Value value);
/// Whether `value` is one constant repeated.
bool isSplat(mlir::Value value);

/// Gives values in wanted layouts: by a `ds.relayout` or, where a value is lazy, by making it anew; at most once per
/// block and layout. Lazy are splat constants, broadcasts, iotas, and loop-carried values whose first user decides.
class LaidOutValues {
public:
  bool isLazy(mlir::Value value) const;
  /// Whether `value`, or what a lazy broadcast repeats, has another layout than the whole on every rank.
  bool isLaidOut(mlir::Value value) const;
  /// Lets the first user of `value` decide its layout.
  void leaveUndecided(mlir::Value value) { undecided.insert(value); }
  bool isUndecided(mlir::Value value) const { return undecided.contains(value); }
  /// Ends that: `value` keeps the layout that it has.
  void settle(mlir::Value value) { undecided.erase(value); }

  /// `value` laid out as `wanted`, for `user`. Values that are no tensors are returned as they are.
  mlir::Value obtain(mlir::Value value, const Layout &wanted, mlir::Operation *user);
  void obtainOperand(mlir::Operation *op, unsigned number, const Layout &wanted) {
    op->setOperand(number, obtain(op->getOperand(number), wanted, op));
  }
  /// The layout in which `user` takes `value` best: if it was reduced already for an earlier user, that result serves.
  Layout layoutBefore(mlir::Value value, mlir::Operation *user) const;

private:
  mlir::Value materialize(mlir::Value value, const Layout &wanted, mlir::Operation *user);
  mlir::Value materializeConstant(mlir::Value value, const Layout &wanted, mlir::OpBuilder &builder);

  /// What was made of `value` in the block of `user`.
  llvm::ArrayRef<mlir::Value> madeOf(mlir::Value value, mlir::Operation *user) const;

  llvm::DenseSet<mlir::Value> undecided;
  /// What was made so far, by block and source.
  llvm::DenseMap<std::pair<mlir::Block *, mlir::Value>, llvm::SmallVector<mlir::Value>> made;
};

} // namespace ds

#endif // DS_LIB_PASSES_PLACEMENT_LAIDOUTVALUES_H
