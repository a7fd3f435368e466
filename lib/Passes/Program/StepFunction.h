// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What the passes of the program stage do with the function of a step: its named arguments and results, its reads and
/// assigns.

#ifndef DS_PASSES_PROGRAM_STEPFUNCTION_H
#define DS_PASSES_PROGRAM_STEPFUNCTION_H

#include "ds/Dialect/Names.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// The function `name` with one block; an error on the module if there is none.
llvm::FailureOr<mlir::func::FuncOp> findFunction(mlir::ModuleOp module, llvm::StringRef name);

/// The number of the argument or result of that name.
std::optional<unsigned> findArgument(mlir::func::FuncOp function, llvm::StringRef name);
std::optional<unsigned> findResult(mlir::func::FuncOp function, llvm::StringRef name);

/// The variable whose gradient result `number` is, or null.
mlir::FlatSymbolRefAttr gradientVariableOf(mlir::func::FuncOp function, unsigned number);

mlir::func::ReturnOp returnOf(mlir::func::FuncOp function);

/// Appends an argument.
mlir::Value appendArgument(mlir::func::FuncOp function, mlir::Type type, llvm::StringRef name);
/// A result of a function, with the one attribute that tells what it is.
struct NamedResult {
  mlir::Value value;
  mlir::NamedAttribute attribute;
};

/// Appends results, all at once: each type that a function ever had is kept for good, and lists all its results.
void appendResults(mlir::func::FuncOp function, llvm::ArrayRef<NamedResult> results);
/// Drops the results for which `isDropped` is set.
void dropResults(mlir::func::FuncOp function, const llvm::BitVector &isDropped);

/// The place after all computation: the first of the assigns at the end, or the return.
mlir::Operation *endOfComputation(mlir::func::FuncOp function);

/// Erases ops without effect whose results nobody uses.
void eraseDeadOps(mlir::func::FuncOp function);

/// The reads at the start of a function. Reads that are needed and missing are added behind the others.
class StepReads {
public:
  /// Moves all reads to the start of the function.
  explicit StepReads(mlir::func::FuncOp function);

  /// The read of a variable, or null.
  ReadOp find(mlir::StringAttr variable) const { return reads.lookup(variable); }
  /// The value of a variable at the start of the step.
  mlir::Value get(VariableOp variable);
  /// The last read; null if there is none.
  mlir::Operation *last() const { return lastRead; }

private:
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::StringAttr, ReadOp> reads;
  mlir::Operation *lastRead = nullptr;
};

} // namespace ds

#endif // DS_PASSES_PROGRAM_STEPFUNCTION_H
