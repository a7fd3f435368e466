// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Decides which ops of a block share a kernel.

#ifndef DS_LIB_PASSES_KERNELS_KERNELCLUSTERS_H
#define DS_LIB_PASSES_KERNELS_KERNELCLUSTERS_H

#include "ds/Analysis/DimMap.h"
#include "ds/Dialect/DsDialect.h"

#include <deque>

namespace ds {

/// Elementwise ops and reductions: what kernels are made of.
bool isFusibleOp(mlir::Operation *op);

/// Ops of lazy values (ds/Dialect/Splat.h): made anew in each kernel that uses them.
bool isFreeOp(mlir::Operation *op);

/// Ops between which kernels are not fused, so that fusion does not lengthen lifetimes: matmuls, library calls, loops.
/// Not collectives, which the schedule places anew, nor what only gives memory another name.
bool separatesKernels(mlir::Operation *op);

/// One kernel in the making.
struct KernelCluster {
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::RankedTensorType space;                     ///< shape and layout of the iteration space
  llvm::SmallDenseMap<mlir::Value, DimMap, 4> maps; ///< the member results, and over which dims they run
  llvm::SmallDenseSet<mlir::Value, 4> foldedRows;   ///< results of leading reductions: known only after the kernel
  int64_t firstColumn = -1;                         ///< the first dim of the columns; -1: not decided
  int64_t segment = 0;                              ///< number of separating ops before it in the block
};

class KernelClusters {
public:
  explicit KernelClusters(mlir::Block &block) : block(block) {}

  /// The members of each kernel, in program order.
  llvm::SmallVector<llvm::ArrayRef<mlir::Operation *>> run();

private:
  void visit(mlir::Operation *op);
  bool join(mlir::Operation *op, unsigned id);
  void start(mlir::Operation *op);
  bool merge(unsigned into, unsigned from);
  /// Merges clusters of one segment that read the same large tensor, so that it is read once.
  void mergeReaders();

  /// The clusters whose results `op` uses, directly or through free ops; those of the largest space, then the latest,
  /// first: what is computed per row joins the kernel of its rows.
  llvm::SmallVector<unsigned> producersOf(mlir::Operation *op);
  /// Whether a path from cluster `target` leads to `value` through an op outside it.
  bool reaches(unsigned target, mlir::Value value, bool directIsPath);
  bool reachesInputsOf(unsigned target, unsigned cluster);
  class BackwardSearch;
  class ForwardSearch;

  std::optional<unsigned> findCluster(mlir::Operation *op) const;

  mlir::Block &block;
  std::deque<KernelCluster> clusters;
  llvm::DenseMap<mlir::Operation *, unsigned> clusterOf;
  llvm::DenseMap<mlir::Operation *, int64_t> segmentOf;
  int64_t segment = 0;
  /// By value, and whether the op that makes it counts as a path: ops from which a path leads to it. Dependencies are
  /// only added, so what is in a set stays true; what is missing may have come later.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, llvm::DenseSet<mlir::Operation *>> ancestorsOf;
};

} // namespace ds

#endif // DS_LIB_PASSES_KERNELS_KERNELCLUSTERS_H
