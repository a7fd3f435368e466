// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The body of a kernel as a graph over the groups of its space: broadcasts and sizes are gone. Knows nothing of the
/// target.

#ifndef DS_ANALYSIS_KERNELGRAPH_H
#define DS_ANALYSIS_KERNELGRAPH_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// A set of dims of the space, or of groups of dims; bit i is number i.
using DimSet = uint64_t;

enum class NodeKind : uint8_t { Input, Constant, Iota, Compute, RowStatistic, Fold };

/// A value of the body, with the dims of the space over which it runs. A value that is broadcast in two ways is two
/// nodes. For example, in a softmax over the last dim of a space [8, 256], the row's maximum is a node over dim 0.
struct KernelNode {
  NodeKind kind;
  mlir::Value value;                    ///< its element type and defining op, or the block argument
  DimSet dims = 0;                      ///< the dims of the space over which it runs
  DimSet groups = 0;                    ///< the same as groups
  llvm::SmallVector<unsigned> operands; ///< numbers of nodes, all smaller than its own
  DimSet foldedFrom = 0;       ///< RowStatistic, Fold: the dims over which the operand is taken, before the reduction
  DimSet foldedFromGroups = 0; ///< the same as groups

  mlir::Type element() const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType(); }
  /// Iota: along which dim of the space.
  unsigned iotaDim() const;
};

/// What becomes of one result of the kernel.
struct KernelResult {
  unsigned node = 0;
  DimSet dims = 0; ///< over which the result runs: more than its node's if it ends in a broadcast
  DimSet groups = 0;
  bool isFolded = false;   ///< known only when all rows are done
  bool isStreamed = false; ///< stored past the caches, as nobody reads it soon
};

struct KernelGraph {
  KernelOp kernel;
  mlir::RankedTensorType space;
  llvm::SmallVector<std::pair<int64_t, int64_t>> groups;
  unsigned numRowGroups = 0;
  llvm::SmallVector<KernelNode> nodes; ///< operands first
  llvm::SmallVector<KernelResult> results;

  mlir::OperandRange inputs() const { return KernelOp(kernel).getInputs(); }
  DimSet allGroups() const { return (DimSet(1) << groups.size()) - 1; }
  DimSet rowGroups() const { return (DimSet(1) << numRowGroups) - 1; }
  bool hasColumns() const { return numRowGroups < groups.size(); }
  /// The group in which neighbouring elements are contiguous.
  DimSet lastGroup() const { return groups.empty() ? 0 : DimSet(1) << (groups.size() - 1); }
  unsigned groupOfDim(unsigned dim) const;
};

/// Fails with an error on the op if the body does not run over one space of rows and columns.
mlir::FailureOr<KernelGraph> buildKernelGraph(KernelOp kernel);

/// A text that two kernels have in common iff the same code serves both.
std::string structureOf(const KernelGraph &graph);

} // namespace ds

#endif // DS_ANALYSIS_KERNELGRAPH_H
