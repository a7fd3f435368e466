// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What `ds-assign-arena` has decided, read from the program.

#ifndef DS_ANALYSIS_ASSIGNEDSTORAGE_H
#define DS_ANALYSIS_ASSIGNEDSTORAGE_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {

/// The arena of `function`; null if the module has none.
ArenaOp findArena(mlir::func::FuncOp function);

/// The buffer of each value of a function, by its number in the `ds.arena`.
class AssignedStorage {
public:
  /// Fails, with an error on the op, if a tensor has no buffer of the arena.
  static mlir::FailureOr<AssignedStorage> read(mlir::func::FuncOp function);

  ArenaOp arena() const { return arenaOp; }
  llvm::ArrayRef<BufferOp> buffers() const { return bufferOps; }
  unsigned storageOf(mlir::Value value) const;
  unsigned storageOfVariable(llvm::StringRef name) const { return variables.lookup(name); }
  /// What `op` needs beside its results: of a kernel, in the order of KernelShape::workspaces.
  llvm::ArrayRef<int64_t> workspacesOf(mlir::Operation *op) const;

private:
  llvm::LogicalResult check(mlir::Operation *op, llvm::ArrayRef<int64_t> numbers, mlir::ValueRange values) const;
  llvm::LogicalResult readVariables(mlir::Operation *module);
  llvm::LogicalResult checkFunction(mlir::func::FuncOp function) const;

  ArenaOp arenaOp;
  llvm::SmallVector<BufferOp> bufferOps;
  llvm::StringMap<unsigned> variables;
};

} // namespace ds

#endif // DS_ANALYSIS_ASSIGNEDSTORAGE_H
