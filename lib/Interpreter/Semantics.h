// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What each op computes on one rank, from local tensors to local tensors.

#ifndef DS_LIB_INTERPRETER_SEMANTICS_H
#define DS_LIB_INTERPRETER_SEMANTICS_H

#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/DistributedTensor.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace ds {

/// One op on one rank. The results are zeros of their local shapes, to be filled.
struct LocalCall {
  mlir::Operation *op;
  int64_t rank;
  llvm::SmallVector<const DenseTensor *, 6> operands;
  llvm::SmallVector<const Placement *, 6> operandPlacements;
  llvm::SmallVector<const Placement *, 2> resultPlacements;
  llvm::SmallVector<DenseTensor, 2> results;

  const DenseTensor &operand(unsigned number) const { return *operands[number]; }
  DenseTensor &result(unsigned number = 0) { return results[number]; }
  /// The width of the integer (or index) elements of operand or result `number`.
  unsigned operandWidth(unsigned number) const;
  unsigned resultWidth(unsigned number = 0) const;

  /// Reports that this rank's tensors do not fit the op.
  mlir::LogicalResult fail(const llvm::Twine &text) const;
  /// Checks the local shape of a result.
  mlir::LogicalResult requireShape(const Shape &shape, unsigned result = 0) const;
  /// Checks that this rank holds dim `dim` of an operand whole.
  mlir::LogicalResult requireWhole(unsigned operand, int64_t dim) const;
};

using Semantics = mlir::LogicalResult (*)(LocalCall &call);

/// Whether an op may see flat pieces in place of blocks.
enum class OnFlat { Refused, Allowed };

/// The semantics of all compute ops.
class SemanticsTable {
public:
  struct Entry {
    Semantics run = nullptr;
    OnFlat onFlat = OnFlat::Refused;
  };

  template <typename OpT> void add(Semantics run, OnFlat onFlat = OnFlat::Refused) {
    entries[mlir::TypeID::get<OpT>()] = {run, onFlat};
  }
  /// The entry of ops called `name`, or null.
  const Entry *find(mlir::OperationName name) const;

  /// The one table, with every family.
  static const SemanticsTable &get();

private:
  llvm::DenseMap<mlir::TypeID, Entry> entries;
};

// One function per family, in the file of its name.
void addActivationOps(SemanticsTable &table);
void addAttentionOps(SemanticsTable &table);
void addConvolutionOps(SemanticsTable &table);
void addFloatOps(SemanticsTable &table);
void addIndexOps(SemanticsTable &table);
void addIntegerOps(SemanticsTable &table);
void addLossOps(SemanticsTable &table);
void addMatmulOps(SemanticsTable &table);
void addNormOps(SemanticsTable &table);
void addOptimizerOps(SemanticsTable &table);
void addPartOps(SemanticsTable &table);
void addReduceOps(SemanticsTable &table);
void addShapeOps(SemanticsTable &table);

//===----------------------------------------------------------------------===//
// Tools for semantics
//===----------------------------------------------------------------------===//

/// A dim of a tensor, with the products of the dims before and after it.
struct DimView {
  int64_t outer = 1, size = 1, inner = 1;
  DimView(const Shape &shape, int64_t dim);
  int64_t index(int64_t before, int64_t i, int64_t after) const { return (before * size + i) * inner + after; }
};

/// The last dims of a tensor from `dim` on as rows.
struct RowView {
  int64_t rows = 1, width = 1;
  RowView(const Shape &shape, int64_t dim);
};

/// Dim i of the result is dim permutation[i] of `tensor`.
DenseTensor permuted(const DenseTensor &tensor, llvm::ArrayRef<unsigned> permutation);

/// For each coordinate of dim `dim` its place in `rank`'s block, or -1.
std::vector<int64_t> localPlaces(const Placement &placement, int64_t rank, size_t dim);

double activate(Activation activation, double x);

inline void copyElement(DenseTensor &to, int64_t index, const DenseTensor &from, int64_t fromIndex) {
  if (to.isFloat)
    to.floats[index] = from.floats[fromIndex];
  else
    to.ints[index] = from.ints[fromIndex];
}

} // namespace ds

#endif // DS_LIB_INTERPRETER_SEMANTICS_H
