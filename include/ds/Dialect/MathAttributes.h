// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What is known of the operands of ops of the math dialect.

#ifndef DS_DIALECT_MATHATTRIBUTES_H
#define DS_DIALECT_MATHATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace ds {

/// UnitAttr on a math.exp: its operand is at most 88, or NaN, so that the result does not overflow. Its code is two
/// instructions shorter.
inline constexpr llvm::StringLiteral kBoundedExpAttr = "ds.bounded";

} // namespace ds

#endif // DS_DIALECT_MATHATTRIBUTES_H
