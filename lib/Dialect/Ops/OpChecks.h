// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What the verifiers and layout rules of many ops share. Verifiers look at shapes and attributes; layouts are checked
/// by `ds-verify-layouts`. Each check reports its fault on `op`.

#ifndef DS_LIB_DIALECT_OPS_OPCHECKS_H
#define DS_LIB_DIALECT_OPS_OPCHECKS_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// The shape of a value that is a tensor.
inline llvm::ArrayRef<int64_t> shapeOfTensor(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Checks that `dim` is in [0, rank).
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim, int64_t rank);

/// Checks that `dims` is ascending and inside [0, rank).
mlir::LogicalResult verifyAscendingDims(mlir::Operation *op, llvm::ArrayRef<int64_t> dims, int64_t rank);

/// Checks that `what` has the expected shape.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what, llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<int64_t> expected);

/// Checks that the list `what` has `expected` entries.
mlir::LogicalResult verifyLength(mlir::Operation *op, llvm::StringRef what, size_t length, size_t expected);

} // namespace ds

#endif // DS_LIB_DIALECT_OPS_OPCHECKS_H
