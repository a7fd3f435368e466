// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Builds what kernels are made of, on scalars and on vectors alike: memory accesses, reductions, elementwise ops,
/// loops.

#ifndef DS_LIB_CODEGEN_CPU_CODEBUILDER_H
#define DS_LIB_CODEGEN_CPU_CODEBUILDER_H

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace ds {

/// How many elements an operation handles: 0 is one scalar. With a mask, only some of the lanes exist.
struct Lanes {
  unsigned count = 0;
  mlir::Value mask; ///< vector<count x i1>, or null: all
};

/// Bytes; also those of the widest vector.
inline constexpr unsigned kCacheLine = 64;
/// Bytes: about what a thread computes on while memory answers.
inline constexpr unsigned kPrefetchAhead = 6144;

class CodeBuilder {
public:
  CodeBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  //===--------------------------------------------------------------------===//
  // Indices: i64
  //===--------------------------------------------------------------------===//

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b); ///< unsigned
  mlir::Value rem(mlir::Value a, mlir::Value b); ///< unsigned
  mlir::Value min(mlir::Value a, mlir::Value b); ///< signed
  /// Whether a < b, as i1.
  mlir::Value isLess(mlir::Value a, mlir::Value b);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// `element` or a vector of it.
  static mlir::Type typeOf(mlir::Type element, unsigned lanes);
  mlir::Value constant(mlir::TypedAttr element, unsigned lanes);
  /// A scalar on all lanes.
  mlir::Value splat(mlir::Value scalar, unsigned lanes);
  /// first, first + 1, ... as `element`; `first` is i64.
  mlir::Value iota(mlir::Value first, mlir::Type element, unsigned lanes);
  /// The first `count` (i64) of the lanes.
  mlir::Value firstLanes(mlir::Value count, unsigned lanes);

  /// `op`, an elementwise op on tensors, on scalars or vectors. 16-bit floats are computed in f32 and rounded.
  mlir::Value compute(mlir::Operation *op, mlir::ValueRange operands, Lanes lanes);

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// Begins void name(ptr buffers, ptr extents, i64...) at the end of `module`: begin, end and chunk, or the number of
  /// chunks alone for what runs after them.
  mlir::LLVM::LLVMFuncOp startKernel(llvm::StringRef name, mlir::ModuleOp module, unsigned numIndices = 3);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  mlir::Type pointerType();
  mlir::Value loadPointer(mlir::Value pointers, int64_t number);
  mlir::Value loadIndex(mlir::Value indices, int64_t number);
  /// The address of element number `offset` (null: 0).
  mlir::Value addressOf(mlir::Value pointer, mlir::Type element, mlir::Value offset);
  /// bool is a byte in memory and i1 as a value. Lanes that do not exist read as zero.
  mlir::Value load(mlir::Type element, mlir::Value address, Lanes lanes);
  void store(mlir::Value value, mlir::Value address, Lanes lanes);
  /// Asks for the lines that are kPrefetchAhead behind the lanes at `address`; they need not exist. Nothing for scalars
  /// and lanes under a mask.
  void prefetch(mlir::Value address, mlir::Type element, Lanes lanes);
  /// Stores a vector past the caches. The address must be a multiple of kCacheLine, and a fence must follow before
  /// another thread reads.
  void stream(mlir::Value value, mlir::Value address);
  void fence();
  mlir::Value isAligned(mlir::Value address);
  /// Of an element in memory.
  static unsigned bytesOf(mlir::Type element);

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  /// In which type elements are folded: f32 for 16-bit floats, else their own.
  static mlir::Type accumulatorOf(mlir::Type element);
  mlir::Value toAccumulator(mlir::Value value, unsigned lanes);
  mlir::Value fromAccumulator(mlir::Value value, mlir::Type element, unsigned lanes);
  mlir::Value neutral(Reduction kind, mlir::Type accumulator, unsigned lanes);
  /// Both are accumulators; lanes that do not exist keep `accumulator`.
  mlir::Value fold(Reduction kind, mlir::Value accumulator, mlir::Value value, Lanes lanes);
  /// Folds the lanes of a vector.
  mlir::Value foldLanes(Reduction kind, mlir::Value vector);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)>;
  using VectorLoopBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, Lanes lanes, mlir::ValueRange carried)>;

  /// for index in [begin, end): carried = body(index, carried).
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end, mlir::ValueRange carried, LoopBody body);
  /// The same for begin, begin + step, ...
  llvm::SmallVector<mlir::Value> loop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
                                      LoopBody body);
  /// The same, `lanes` indices at a time; what does not fill a vector goes under a mask.
  llvm::SmallVector<mlir::Value> vectorLoop(mlir::Value begin, mlir::Value end, unsigned lanes,
                                            mlir::ValueRange carried, VectorLoopBody body);
  using ChoiceBody = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  /// condition ? ifTrue() : ifFalse(), whose values have `types`.
  llvm::SmallVector<mlir::Value> choose(mlir::Value condition, mlir::TypeRange types, ChoiceBody ifTrue,
                                        ChoiceBody ifFalse);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  mlir::Value foldOne(Reduction kind, mlir::Value accumulator, mlir::Value value);
  mlir::Value create(llvm::StringRef name, mlir::ValueRange operands, mlir::Type type,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes);
};

} // namespace ds

#endif // DS_LIB_CODEGEN_CPU_CODEBUILDER_H
