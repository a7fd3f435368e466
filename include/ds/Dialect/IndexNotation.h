// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The notation "ab,bc->ac" that names the dims of an op's tensors.

#ifndef DS_DIALECT_INDEX_NOTATION_H
#define DS_DIALECT_INDEX_NOTATION_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ds {

/// A string per tensor, with a character per dim: a letter is an index, a digit a fixed coordinate.
struct IndexNotation {
  llvm::SmallVector<std::string, 8> operands, results;

  /// Of the attribute `indices` of an op.
  static IndexNotation parse(llvm::StringRef text);
  std::string str() const;

  /// Operands, then results.
  std::string &tensor(size_t number) {
    return number < operands.size() ? operands[number] : results[number - operands.size()];
  }
};

} // namespace ds

#endif // DS_DIALECT_INDEX_NOTATION_H
