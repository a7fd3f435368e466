// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Turns the ops of a scheduled step, with their buffers assigned, into the plan's instructions.

#ifndef DS_LIB_CODEGEN_EMIT_INSTRUCTIONEMITTER_H
#define DS_LIB_CODEGEN_EMIT_INSTRUCTIONEMITTER_H

#include "EmitArena.h"
#include "LayoutExtents.h"
#include "ds/Analysis/Storage.h"
#include "ds/Codegen/Cpu.h"
#include "ds/Codegen/EmitPlan.h"
#include "ds/Plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ds {

class InstructionEmitter {
public:
  InstructionEmitter(const Mesh &mesh, const AssignedStorage &storage, CpuCompiler &kernels, plan::PlanT &plan);

  llvm::LogicalResult emitFunction(mlir::func::FuncOp function);
  /// The instructions of each op, by its time in the `ds.arena`.
  llvm::ArrayRef<InstructionRange> instructions() const { return ranges; }

private:
  // Structure.
  llvm::LogicalResult emitBlock(mlir::Block &block);
  llvm::LogicalResult emit(mlir::Operation *op);
  void addPredictedTime(mlir::Operation *op, uint32_t firstOrder);
  llvm::LogicalResult emitLoop(mlir::scf::ForOp loop);
  void emitMarkers(plan::OperationUnion marker, mlir::scf::ForOp loop);
  void emitAssign(AssignOp op);
  void emitConstant(mlir::arith::ConstantOp op);
  llvm::LogicalResult emitKernel(KernelOp op);
  void emitAttention(mlir::Operation *op);
  void emitRotary(RotaryEmbeddingOp op);
  /// The plan's number of a compiled kernel.
  uint32_t kernelId(llvm::StringRef hash, bool hasFinish);
  /// With the buffers of `op`; its extents, rows and chunks are still to be set.
  plan::KernelCallT kernelCall(mlir::Operation *op, llvm::StringRef hash, bool hasFinish);

  // Movement (EmitMovement.cpp).
  void emitMove(mlir::Value from, uint32_t toStorage, mlir::Operation *op);
  void emitFill(mlir::Value target, uint64_t bits, mlir::Operation *op);
  llvm::LogicalResult emitMovement(mlir::Operation *op);
  void emitView(mlir::Operation *op, unsigned operandNumber);

  // Library calls (EmitLibrary.cpp).
  void emitMatmul(mlir::Operation *op);
  llvm::LogicalResult emitLibrary(mlir::Operation *op);

  // Casts (EmitCasts.cpp).
  llvm::LogicalResult emitStart(StartOp op);
  llvm::LogicalResult emitLocalCast(mlir::Operation *op);

  /// The splits of all indices of `op`'s rule, as its types say.
  IndexSplits splitsOf(mlir::Operation *op, const LayoutRule &rule);
  uint32_t countOf(mlir::Value value) { return extents.addCount(layoutOf(value), shapeOf(value.getType())); }

  /// Appends an instruction to the compute queue.
  template <typename T> void add(T operation, mlir::Operation *op) {
    plan::OperationUnion wrapped;
    wrapped.Set(std::move(operation));
    append(0, std::move(wrapped), op);
  }
  void append(size_t queue, plan::OperationUnion operation, mlir::Operation *op);
  size_t queueOfAxis(llvm::StringRef axis);

  const Mesh &mesh;
  const AssignedStorage &storage;
  CpuCompiler &kernels;
  plan::PlanT &plan;
  LayoutExtents extents;
  llvm::StringMap<uint32_t> kernelIds; ///< by hash
  uint32_t nextOrder = 0;
  std::vector<InstructionRange> ranges; ///< of the ops so far
};

/// All elements, row-major and little-endian, a byte per bool.
std::vector<uint8_t> bytesOf(mlir::DenseElementsAttr elements);

/// The table of a layout, resolved for its shape.
std::unique_ptr<plan::LayoutT> layoutTableOf(mlir::Type type, const Mesh &mesh);

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_INSTRUCTIONEMITTER_H
