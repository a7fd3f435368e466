// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What ops do to the memory of tensors, and when. All analyses of memory in the compiler ask here; the check of a plan
/// does not, so that it finds what is wrong here.

#ifndef DS_ANALYSIS_OPEFFECTS_H
#define DS_ANALYSIS_OPEFFECTS_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// The time of each op of a function: its number in program order, a loop's body behind the loop. The bodies of kernels
/// have none.
class OpTimes {
public:
  explicit OpTimes(mlir::func::FuncOp function) { number(function.getBody().front()); }

  uint32_t of(mlir::Operation *op) const { return times.lookup(op); }
  /// The time of the last op inside `op`, or of `op` if there is none.
  uint32_t endOf(mlir::Operation *op) const;
  llvm::ArrayRef<mlir::Operation *> ops() const { return inOrder; }
  /// The time of the function's terminator.
  uint32_t last() const { return inOrder.size() - 1; }

private:
  void number(mlir::Block &block);

  llvm::DenseMap<mlir::Operation *, uint32_t> times;
  std::vector<mlir::Operation *> inOrder;
};

/// Whether `op` touches no memory: its result is another name of its operand, as with a reshape.
bool isAlias(mlir::Operation *op);
/// Whether `op` is a constant that is written once, before the first step: one that is no splat.
bool isLoadedBefore(mlir::Operation *op);

/// The tensors whose memory an op uses while it runs. A collective runs from its start to its wait: the start begins
/// the results of the wait, which finishes them and reads the sources to the last.
struct OpEffects {
  llvm::SmallVector<mlir::Value, 4> reads;
  llvm::SmallVector<mlir::Value, 2> writes;   ///< all of them
  llvm::SmallVector<mlir::Value, 2> begins;   ///< written from here on, and not to be used yet
  llvm::SmallVector<mlir::Value, 2> finishes; ///< begun earlier, and whole from here on
};

/// Empty for an alias and for what is loaded before. What a loop carries from one iteration to the next is not in it.
OpEffects effectsOf(mlir::Operation *op);

/// The op that begins to write the result `value` of an op.
mlir::Operation *birthOf(mlir::Value value);

} // namespace ds

#endif // DS_ANALYSIS_OPEFFECTS_H
