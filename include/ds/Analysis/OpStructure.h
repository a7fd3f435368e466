// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Answers that are computed once for all equal ops. Layers repeat, and what is true of an op in one layer is true of
/// the same op in every other.

#ifndef DS_ANALYSIS_OPSTRUCTURE_H
#define DS_ANALYSIS_OPSTRUCTURE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ds {

/// Compares ops by name, inherent attributes, regions, and the types of operands and results: neither by the values
/// that they read, nor by their locations, nor by what passes note on them (`ds.buffers`, `ds.seconds`). So an
/// answer that is kept in such a map must not depend on any of these.
struct OpStructure : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *op);
  static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
};

/// From ops to an answer for all ops of their structure. The ops in it must neither change nor go while it is used.
template <typename Answer> using StructureMap = llvm::DenseMap<mlir::Operation *, Answer, OpStructure>;
using StructureSet = llvm::DenseSet<mlir::Operation *, OpStructure>;

} // namespace ds

#endif // DS_ANALYSIS_OPSTRUCTURE_H
