// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Values whose elements are told by a constant, and those that take no memory before they are used.

#ifndef DS_DIALECT_SPLAT_H
#define DS_DIALECT_SPLAT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace ds {

/// Whether `value` is one constant repeated.
bool isSplat(mlir::Value value);

/// Whether `value` is made anew wherever it is used, as that costs next to nothing: a splat, a broadcast or an iota.
bool isLazy(mlir::Value value);

/// The elements of the constant that `value` repeats, seen through broadcasts and reshapes; null if it is none.
mlir::DenseElementsAttr findElements(mlir::Value value);

/// The one number that all elements of a float constant are, seen through broadcasts and reshapes.
std::optional<double> findSplat(mlir::Value value);

} // namespace ds

#endif // DS_DIALECT_SPLAT_H
