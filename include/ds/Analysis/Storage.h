// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which values of a step share memory.

#ifndef DS_ANALYSIS_STORAGE_H
#define DS_ANALYSIS_STORAGE_H

#include "ds/Analysis/KernelShape.h"
#include "ds/Analysis/OpEffects.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {

/// The memory of one or more values that are never needed at the same time.
struct Storage {
  std::string name;
  uint64_t bytes = 0;      ///< on the rank that needs most
  bool isVariable = false; ///< lives from step to step
  bool isInput = false;    ///< filled before the step
  bool isOutput = false;   ///< read after the step
};

/// Gives every tensor value of a function a storage. Values share one where no copy is needed: reshapes and fences with
/// their input, a variable's new value with the old one, a loop's carried values, a kernel's result with an input that
/// dies in it. Where sharing is impossible, `needsCopy` says so.
class StoragePlan {
public:
  StoragePlan(mlir::func::FuncOp function, const Mesh &mesh);

  unsigned storageOf(mlir::Value value) const {
    return storageIds.lookup(const_cast<StoragePlan *>(this)->leader(value));
  }
  unsigned storageOfVariable(llvm::StringRef name) const { return variableStorage.lookup(name); }
  /// Adds memory that belongs to no value.
  unsigned addScratch(std::string name, uint64_t bytes);

  const std::vector<Storage> &storages() const { return allStorages; }

private:
  void addVariables();
  void uniteAliases(mlir::Block &block);
  void uniteTargets(mlir::Block &block);
  void keepUntilMoved(mlir::Value value, mlir::Value target, mlir::Operation *mover);
  void uniteInPlace(mlir::Block &block);
  void assignStorages(mlir::Block &block);

  mlir::Value leader(mlir::Value value);
  void unite(mlir::Value into, mlir::Value value);
  bool canFollow(mlir::Value value, mlir::Value previous);
  bool mayOverwrite(mlir::Value value, mlir::Value previousLeader);
  int64_t lastUse(mlir::Value value);
  int64_t definition(mlir::Value value);
  void uniteIfPossible(mlir::Value previous, mlir::Value value);

  mlir::func::FuncOp function;
  const Mesh &mesh;
  OpTimes times;
  llvm::DenseMap<mlir::Value, mlir::Value> parents;                       ///< union-find
  llvm::DenseMap<mlir::Value, int64_t> classEnds;                         ///< of leaders: the last use of any member
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> members; ///< of leaders
  llvm::DenseSet<mlir::Value> fixedClasses;         ///< of leaders: variables, arguments, carried values
  llvm::StringMap<mlir::Value> reads;               ///< variable -> the value of its ds.read
  llvm::DenseMap<mlir::Value, unsigned> storageIds; ///< of leaders
  llvm::StringMap<unsigned> variableStorage;
  std::vector<Storage> allStorages;
  BufferSharing sharing;
};

/// The op and, where its location tells it, the node of the model that it comes from: `matmul h.0.mlp.c_fc`.
std::string describe(mlir::Operation *op);

} // namespace ds

#endif // DS_ANALYSIS_STORAGE_H
