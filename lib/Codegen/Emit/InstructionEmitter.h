// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Turns the ops of a scheduled step, with their buffers assigned, into the plan's instructions.

#ifndef DS_LIB_CODEGEN_EMIT_INSTRUCTIONEMITTER_H
#define DS_LIB_CODEGEN_EMIT_INSTRUCTIONEMITTER_H

#include "EmitArena.h"
#include "LayoutExtents.h"
#include "ds/Analysis/Storage.h"
#include "ds/Codegen/EmitPlan.h"
#include "ds/Codegen/KernelCompiler.h"
#include "ds/Plan/Plan.h"

#include "mlir/IR/TypeUtilities.h"

namespace ds {
class InstructionEmitter;
} // namespace ds

#include "InstructionOpInterface.h.inc"

namespace ds {

/// What the models of ops (Instructions.h) read and fill.
class InstructionEmitter {
public:
  InstructionEmitter(const Mesh &mesh, const AssignedStorage &storage, KernelCompiler &kernels, plan::PlanT &plan);

  llvm::LogicalResult emitFunction(mlir::func::FuncOp function);
  /// The instructions of each op, by its time in the `ds.arena`.
  llvm::ArrayRef<InstructionRange> instructions() const { return ranges; }

  // For models.

  /// Adds an instruction of `op` to the queue that runs it.
  template <typename T> plan::InstructionT &add(T operation, mlir::Operation *op) {
    plan::OperationUnion wrapped;
    wrapped.Set(std::move(operation));
    return append(queueOf(op), std::move(wrapped), op);
  }
  /// Copies the whole of a value, element by element.
  void addMove(mlir::Value from, uint32_t toStorage, mlir::Operation *op);
  /// Fills a value with the low bytes of `bits`.
  void addFill(mlir::Value target, uint64_t bits, mlir::Operation *op);
  /// Adds the body of a loop that runs `count` times; `moveToNext` adds what stands between the iterations.
  llvm::LogicalResult addLoop(mlir::scf::ForOp loop, uint64_t count, llvm::function_ref<void()> moveToNext);
  void addVariable(std::unique_ptr<plan::VariableT> variable) { plan.variables.push_back(std::move(variable)); }

  /// The splits of all indices of `op`'s rule, as its types say.
  IndexSplits splitsOf(mlir::Operation *op, const LayoutRule &rule) const;
  /// The extent of the elements that a rank has of `value`.
  uint32_t countOf(mlir::Value value) { return extents.addCount(layoutOf(value), shapeOf(value.getType())); }
  /// The plan's number of a compiled kernel.
  uint32_t kernelId(const CompiledKernel &kernel);

  const Mesh &mesh;
  const AssignedStorage &storage;
  KernelCompiler &kernels;
  LayoutExtents extents;

private:
  llvm::LogicalResult emitBlock(mlir::Block &block);
  void addPrediction(mlir::Operation *op, uint32_t firstOrder);
  void addMarkers(plan::OperationUnion marker, mlir::scf::ForOp loop);
  plan::InstructionT &append(size_t queue, plan::OperationUnion operation, mlir::Operation *op);
  /// A collective runs on the queue of its axis, everything else on the compute queue.
  size_t queueOf(mlir::Operation *op);
  size_t findOrAddQueue(plan::QueueKind kind, llvm::StringRef name, uint16_t axis);

  plan::PlanT &plan;
  llvm::StringMap<uint32_t> kernelIds; ///< by hash
  uint32_t nextOrder = 0;
  std::vector<InstructionRange> ranges; ///< of the ops so far
};

/// All elements, row-major and little-endian, a byte per bool.
std::vector<uint8_t> bytesOf(mlir::DenseElementsAttr elements);

/// The table of a layout, resolved for its shape.
std::unique_ptr<plan::LayoutT> layoutTableOf(mlir::Type type, const Mesh &mesh);

/// The plan's name of the element type of a tensor.
inline plan::DataType dataTypeOf(mlir::Value value) { return dataTypeOf(mlir::getElementTypeOrSelf(value.getType())); }

} // namespace ds

#endif // DS_LIB_CODEGEN_EMIT_INSTRUCTIONEMITTER_H
