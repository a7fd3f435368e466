// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// When the memory of a step is in use.

#ifndef DS_ANALYSIS_LIFETIMES_H
#define DS_ANALYSIS_LIFETIMES_H

#include "ds/Analysis/Storage.h"

namespace ds {

/// The time of each op of a function: its number in program order, a loop's body behind the loop. The bodies of kernels
/// have none.
class OpTimes {
public:
  explicit OpTimes(mlir::func::FuncOp function) { number(function.getBody().front()); }

  uint32_t of(mlir::Operation *op) const { return times.lookup(op); }
  llvm::ArrayRef<mlir::Operation *> ops() const { return inOrder; }
  /// The time of the function's terminator.
  uint32_t last() const { return inOrder.size() - 1; }

private:
  void number(mlir::Block &block);

  llvm::DenseMap<mlir::Operation *, uint32_t> times;
  std::vector<mlir::Operation *> inOrder;
};

/// The times at which a storage must keep its bytes, both inclusive.
struct Lifetime {
  uint32_t first = UINT32_MAX, last = 0;
  void include(uint32_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

/// Whether `op` touches no memory: its result is another name of its operand, as with a reshape.
bool isAlias(mlir::Operation *op);

/// The lifetime of each storage, by its number.
/// - A collective runs between its start and its wait: its destination lives from the start on, its source until the
///   wait.
/// - A storage that is live when a loop begins, and is used in the loop, lives to the loop's end: the next iteration
///   needs it again.
/// - Variables live throughout, inputs from the start to the first op that runs at least, outputs to the end.
std::vector<Lifetime> findLifetimes(const StoragePlan &storage, const OpTimes &times);

} // namespace ds

#endif // DS_ANALYSIS_LIFETIMES_H
