// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Native code for `ds.kernel` ops on the CPU.
///
/// A kernel runs over its iteration space row by row. Its functions, as the plan calls them:
///
///     void <symbol>(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, int64_t chunk)
///     void <symbol>_finish(void *const *buffers, const int64_t *extents, int64_t chunks)        iff shape.hasFinish
///
/// - buffers: the kernel's inputs, then its results, then its workspaces (KernelShape::workspaces), in order.
/// - extents: for each group of KernelShape::groups two numbers, its length (the product of its dims' block extents on
///   this rank; of a flat space, the length of the flat piece) and its begin (the global coordinate of the first
///   element, for a group of one dim; else ignored). In terms of the plan: the Extent whose factors are those of the
///   group's dims.
/// - rows [begin, end) of [0, R), R = product of the lengths of the first numRowGroups groups (1 if there are none).
/// - An element of i1 is one byte, 0 or 1; every other type is stored as it is.
///
/// No size is baked into the code, so kernels that differ only in sizes or layouts are one.

#ifndef DS_CODEGEN_CPU_H
#define DS_CODEGEN_CPU_H

#include "ds/Analysis/KernelShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace ds {

struct CpuOptions {
  std::string cpu = "native"; ///< a CPU name of LLVM ("znver4", "x86-64-v3"), or the machine that compiles
  unsigned threads = 2;       ///< that compile at the same time
  std::string cache = {};     ///< the folder in which compiled kernels are kept; empty: none
};

/// The CPU that CpuOptions::cpu names: target triple, tuning and the features that kernels use. Nothing, and why, if it
/// is not known.
std::optional<std::string> describeCpu(llvm::StringRef cpu, std::string &error);

/// The kernels of a plan, and those that an earlier compilation left in the cache.
struct KernelCounts {
  size_t all = 0, cached = 0;
};

/// The symbol of the kernel with `hash`.
inline std::string kernelSymbol(llvm::StringRef hash) { return ("ds_kernel_" + hash).str(); }

struct CompiledKernel {
  std::string hash; ///< of the kernel's structure, without sizes: 32 hexadecimal digits
  KernelShape shape;
};

/// Compiles kernels into one shared object for a plan. Not to be used from two threads.
class CpuCompiler {
public:
  /// `context` is where the kernels live; loads the dialects that code generation goes through. Fails on an unknown
  /// CPU.
  static mlir::FailureOr<std::unique_ptr<CpuCompiler>> create(mlir::MLIRContext *context,
                                                              const CpuOptions &options = {});
  virtual ~CpuCompiler();

  /// Adds all kernels of `function`, and begins to compile them beside the caller if the context is multithreaded.
  virtual llvm::LogicalResult start(mlir::func::FuncOp function, const Mesh &mesh) = 0;

  /// Adds `kernel` unless an equal one is there, and tells how to call it. Fails with an error on the op. All kernels
  /// are of one `mesh`, and stay as they are while this object lives.
  virtual mlir::FailureOr<CompiledKernel> add(KernelOp kernel, const Mesh &mesh) = 0;

  /// The same for a ds.fused_attention or ds.fused_attention_grad. Its extents are those of the letters b, k, g, s and
  /// t (g of length 1 if there is none), its last buffer is a workspace. Returns the symbol's hash.
  virtual std::string addAttention(mlir::Operation *op) = 0;

  /// The same for an f32 rotary embedding. Extents: for each run of dims of the tables, from the last, the rows of the
  /// dims between it and the run after it, and its own; then the width. Buffers: input, cosine, sine, result.
  virtual std::string addRotary(RotaryEmbeddingOp op) = 0;

  /// The shared object (ELF) of all kernels; empty if there are none. The same kernels in the same order give the same
  /// bytes. Fails with an error at an unknown location, as it means a fault of the code generator.
  virtual mlir::FailureOr<std::vector<uint8_t>> finish() = 0;

  /// The CPU features that the code needs, by their names in LLVM ("avx512f"), sorted: NativeObject.features of the
  /// plan.
  virtual std::vector<std::string> features() const = 0;
  /// Of the kernels that were added since the last finish().
  virtual KernelCounts counts() const = 0;
  /// NativeObject.target of the plan: the target triple.
  virtual std::string target() const = 0;
};

} // namespace ds

#endif // DS_CODEGEN_CPU_H
