// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How many bytes tensors take. What a rank has and what all ranks have together differ, so every name says which.

#ifndef DS_ANALYSIS_TENSORSIZES_H
#define DS_ANALYSIS_TENSORSIZES_H

#include "ds/Dialect/DsDialect.h"

namespace ds {

/// Whether `value` is a tensor, and so lies in memory; others are loop counters and tokens.
inline bool isTensor(mlir::Value value) { return llvm::isa<mlir::RankedTensorType>(value.getType()); }

/// The bytes of one element in memory; i1 takes a byte.
uint64_t elementBytes(mlir::Type type);
/// The bytes of the whole tensor, wherever they lie.
uint64_t globalBytes(mlir::Type type);
/// The bytes of a tensor on the rank that holds most of it.
uint64_t maxLocalBytes(mlir::Type type, const Mesh &mesh);

} // namespace ds

#endif // DS_ANALYSIS_TENSORSIZES_H
