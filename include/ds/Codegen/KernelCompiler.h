// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What compiles the kernels of a plan, whatever machine they are for. Implementation: Cpu.h.

#ifndef DS_CODEGEN_KERNELCOMPILER_H
#define DS_CODEGEN_KERNELCOMPILER_H

#include "ds/Analysis/KernelShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace ds {

/// The kernels of a plan, and those that an earlier compilation left in the cache.
struct KernelCounts {
  size_t all = 0, cached = 0;
};

/// The symbol of the kernel with `hash`.
inline std::string kernelSymbol(llvm::StringRef hash) { return ("ds_kernel_" + hash).str(); }

struct CompiledKernel {
  std::string hash;       ///< of the kernel's structure, without sizes: 32 hexadecimal digits
  KernelShape shape = {}; ///< of a ds.kernel; other ops tell by themselves how they are called
};

/// Compiles kernels into one object for a plan. Not to be used from two threads.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// Adds all kernels of `function`, and begins to compile them beside the caller if the context is multithreaded.
  virtual llvm::LogicalResult start(mlir::func::FuncOp function, const Mesh &mesh) = 0;

  /// Adds the kernel that `op` is unless an equal one is there, and tells how to call it: a ds.kernel, a
  /// ds.fused_attention or its gradient, or an f32 ds.rotary_embedding. Fails with an error on the op. All kernels are
  /// of one `mesh`, and stay as they are while this object lives.
  virtual mlir::FailureOr<CompiledKernel> add(mlir::Operation *op, const Mesh &mesh) = 0;

  /// NativeObject.data of the plan, with all kernels; empty if there are none. The same kernels in the same order give
  /// the same bytes. Fails with an error at an unknown location, as it means a fault of the code generator.
  virtual mlir::FailureOr<std::vector<uint8_t>> finish() = 0;

  /// What the code needs of the machine, by LLVM's names ("avx512f"), sorted: NativeObject.features of the plan.
  virtual std::vector<std::string> features() const = 0;
  /// NativeObject.target of the plan: the target triple.
  virtual std::string target() const = 0;
  /// Of the kernels that were added since the last finish().
  virtual KernelCounts counts() const = 0;
};

} // namespace ds

#endif // DS_CODEGEN_KERNELCOMPILER_H
