// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The notation "ab,bc->ac" that names the dims of an op's tensors.

#ifndef DS_DIALECT_INDEX_NOTATION_H
#define DS_DIALECT_INDEX_NOTATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace ds {

/// A string per tensor, with a character per dim: a letter is an index, a digit a fixed coordinate.
struct IndexNotation {
  llvm::SmallVector<std::string, 8> operands, results;

  static IndexNotation parse(llvm::StringRef text);
  std::string str() const;

  size_t numTensors() const { return operands.size() + results.size(); }
  /// Operands, then results.
  std::string &tensor(size_t number) {
    return number < operands.size() ? operands[number] : results[number - operands.size()];
  }
};

/// Of the attribute `indices` of `op`.
IndexNotation notationOf(mlir::Operation *op);

/// The type of the tensor that string `number` of `op`'s notation names; strings beyond the results name the last one.
mlir::RankedTensorType typeOfString(mlir::Operation *op, size_t number);

} // namespace ds

#endif // DS_DIALECT_INDEX_NOTATION_H
