// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which integers a value may hold, from its uses as rows of a table, classes and elements.

#ifndef DS_DIALECT_INT_SET_H
#define DS_DIALECT_INT_SET_H

#include "mlir/IR/Value.h"

namespace ds {

/// The integers in [low, high), and `others` outside of it.
struct IntSet {
  int64_t low = 0, high = 0;
  llvm::SmallVector<int64_t, 1> others;

  bool contains(int64_t value) const { return (low <= value && value < high) || llvm::is_contained(others, value); }
  /// Keeps what `set` holds too.
  void intersect(const IntSet &set);
};

/// How far uses are followed.
enum class IntUses : uint8_t {
  Certain, ///< every element that is not in the set is a mistake of the data
  Likely,  ///< also through selects, loops and tables of integers: a good guess of what elements are meant to be
};

/// The integers that all uses of `value` allow: `gather_rows` and its like take indices in [-n, n), rows of a parameter
/// (an embedding) in [0, n), `cross_entropy` labels in [0, n) and its ignore_index. Nothing if no use asks for any.
/// Follows ops that move integers or change their width; a slice counts as a use of the whole, so that an input is
/// checked without regard to where an element stands.
std::optional<IntSet> findAllowedInts(mlir::Value value, IntUses uses);

} // namespace ds

#endif // DS_DIALECT_INT_SET_H
