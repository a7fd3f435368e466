// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The layout rule of an op, and what follows from it.

#ifndef DS_DIALECT_LAYOUT_RULE_H
#define DS_DIALECT_LAYOUT_RULE_H

#include "ds/Layout/Layout.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace ds {

/// What may happen to an index of an op's iteration space.
enum class IndexKind : uint8_t {
  Parallel, ///< may be split; each rank computes its part
  Sum,      ///< contracted: split over axes, the result is partial sum over them
  Max,      ///< as Sum, with max
  Min,      ///< as Sum, with min
  Whole,    ///< must not be split
};

struct RuleIndex {
  int64_t size;
  IndexKind kind;
  /// The op computes with positions along the index, so a rank must have one interval of them: `{tp}` and `(2{tp})(8)`
  /// are, `(2)(8{tp})` is not.
  bool needsInterval = false;
};

/// For each dim of a value the indices it runs over, major first; their sizes multiply to the dim's. Empty for a dim of
/// size 1.
using ValueIndices = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 4>;

/// Which operands may be partial.
enum class PartialRule : uint8_t {
  None,        ///< none
  Multilinear, ///< at most one linear operand per axis, and no index on that axis
  Additive,    ///< all linear operands over the same axes
};

/// Which index of the op's iteration space each dim of each operand and result runs over, and what becomes of partial
/// values.
struct LayoutRule {
  llvm::SmallVector<RuleIndex, 8> indices;
  llvm::SmallVector<ValueIndices, 4> operands; ///< one per operand; empty for operands that are no tensors
  llvm::SmallVector<ValueIndices, 2> results;
  PartialRule partial = PartialRule::None;
  llvm::SmallVector<bool, 4> linear;       ///< per operand: may be partial
  llvm::SmallVector<ReduceKind, 3> passes; ///< which folds pass through
  bool allowsFlat = false;                 ///< elementwise: all tensors of rank > 0 may be flat, alike

  std::optional<unsigned> likeResult; ///< an operand that must be partial exactly as the result is
  bool needsWholeResult = false;      ///< contracted indices must not be split

  unsigned addIndex(int64_t size, IndexKind kind = IndexKind::Parallel) {
    indices.push_back({size, kind, /*needsInterval=*/false});
    return indices.size() - 1;
  }
  /// One new index per dim of `shape`.
  ValueIndices addDims(llvm::ArrayRef<int64_t> shape, IndexKind kind = IndexKind::Parallel);
  /// Marks operands as linear, with sums (and the other folds of `kinds`) passing through.
  void setLinear(PartialRule rule, llvm::ArrayRef<unsigned> operandNumbers,
                 llvm::ArrayRef<ReduceKind> kinds = {ReduceKind::Sum});
};

/// The rule of an elementwise op: all tensors of rank > 0 have the result's shape.
LayoutRule elementwiseRule(mlir::Operation *op);

/// The rule of `op`, or nothing if it has none.
std::optional<LayoutRule> findLayoutRule(mlir::Operation *op);

/// How each index of an op's iteration space is split: its factors and their axes, resolved.
using IndexSplits = llvm::SmallVector<DimLayout, 8>;

/// The splits of the indices of one value laid out as `layout`; nothing if a dim's factors do not fit its indices.
std::optional<llvm::SmallVector<llvm::SmallVector<DimLayout, 2>, 4>>
splitsOfValue(const Layout &layout, const ValueIndices &value, const LayoutRule &rule, const Shape &shape,
              const Mesh &mesh);

/// The dims of a value whose indices are split so; normalized.
std::vector<DimLayout> dimsOfValue(const ValueIndices &value, const LayoutRule &rule, const IndexSplits &splits,
                                   const Shape &shape);

/// Why the layouts on the types of `op` do not obey its rule, or nothing.
std::optional<std::string> findRuleFault(mlir::Operation *op, const LayoutRule &rule, const Mesh &mesh);

} // namespace ds

#endif // DS_DIALECT_LAYOUT_RULE_H
