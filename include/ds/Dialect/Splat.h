// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Tensors whose elements are one constant.

#ifndef DS_DIALECT_SPLAT_H
#define DS_DIALECT_SPLAT_H

#include "mlir/IR/Value.h"

#include <optional>

namespace ds {

/// The one number that all elements of a float constant are, seen through broadcasts and reshapes.
std::optional<double> findSplat(mlir::Value value);

} // namespace ds

#endif // DS_DIALECT_SPLAT_H
