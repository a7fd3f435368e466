// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Native code for `ds.kernel` ops on the CPU.
///
/// A kernel runs over its iteration space row by row. Its functions, as the plan calls them:
///
///     void <symbol>(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, int64_t chunk)
///     void <symbol>_finish(void *const *buffers, const int64_t *extents, int64_t chunks)        iff hasFinish
///
/// - buffers: the kernel's inputs, then its results, then its workspaces (KernelShape::workspaces), in order.
/// - extents: for each group of KernelShape::groups two numbers, its length (the product of its dims' block extents on
/// this
///   rank; of a flat space, the length of the flat piece) and its begin (the global coordinate of the first element,
///   for a group of one dim; else ignored). In terms of the plan: the Extent whose factors are those of the group's
///   dims.
/// - rows [begin, end) of [0, R), R = product of the lengths of the first numRowGroups groups (1 if there are none).
/// - bool is one byte, 0 or 1; everything else is itself.
///
/// No size is baked into the code, so kernels that differ only in sizes or layouts are one.

#ifndef DS_CODEGEN_CPU_H
#define DS_CODEGEN_CPU_H

#include "ds/Dialect/DsDialect.h"
#include "ds/Layout/Mesh.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace ds {

//===----------------------------------------------------------------------===//
// Shape: needs no LLVM
//===----------------------------------------------------------------------===//

/// Memory that a kernel needs beside its inputs and results: [KernelShape::chunks, elements].
struct KernelWorkspace {
  mlir::Type element;   ///< stored as tensors of this element type are
  int64_t elements = 0; ///< per chunk, on the rank that needs most
};

/// How a kernel is cut.
struct KernelShape {
  /// The iteration space, in the global view: the largest tensor of the kernel. Its element type means nothing.
  mlir::RankedTensorType space;
  /// Dims [begin, end) of each group, major first. Neighbouring dims that every operand and result has together or not
  /// at all are one group. All dims of a flat space are one. None for a space of rank 0.
  llvm::SmallVector<std::pair<int64_t, int64_t>> groups;
  /// The first groups are the rows, the others the columns. One group: its elements are the rows, there are no columns.
  unsigned numRowGroups = 0;
  /// Into how many chunks the rows are cut: from 1 to 64, by the shape alone.
  int64_t chunks = 1;
  /// The partial sums of each result that is folded over rows, in the order of the results; then rows of scratch.
  llvm::SmallVector<KernelWorkspace> workspaces;
  /// Whether a result is folded over rows, so that `<symbol>_finish` must run after all chunks.
  bool hasFinish = false;
};

/// The shape of `kernel` on `mesh`. Fails, with an error on the op, if its ops do not run over one space of rows and
/// columns.
mlir::FailureOr<KernelShape> analyzeKernel(KernelOp kernel, const Mesh &mesh);

/// Whether the kernel still works if result number `result` lies in the buffer of input number `input`: both have
/// elements of one size at the same places, and each element of the input is last read before, or when, that of the
/// result is written. One input may take one result only. False if the kernel has no shape.
bool mayShareBuffer(KernelOp kernel, unsigned result, unsigned input);

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

struct CpuOptions {
  std::string cpu = "native"; ///< a CPU name of LLVM ("znver4", "x86-64-v3"), or the machine that compiles
  unsigned threads = 2;       ///< that compile at the same time
};

struct CompiledKernel {
  std::string symbol; ///< "ds_kernel_" and the hash
  std::string hash;   ///< of the kernel's structure, without sizes: 32 hexadecimal digits
  bool hasFinish = false;
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

  /// Adds `kernel` unless an equal one is there, and tells how to call it. Fails with an error on the op.
  virtual mlir::FailureOr<CompiledKernel> add(KernelOp kernel, const Mesh &mesh) = 0;

  /// The shared object (ELF) of all kernels; empty if there are none. The same kernels in the same order give the same
  /// bytes. Fails with an error at an unknown location, as it means a fault of the code generator.
  virtual mlir::FailureOr<std::vector<uint8_t>> finish() = 0;

  /// The CPU features that the code needs, by their names in LLVM ("avx512f"), sorted: NativeObject.features of the
  /// plan.
  virtual std::vector<std::string> features() const = 0;
  /// NativeObject.target of the plan: the target triple.
  virtual std::string target() const = 0;
};

/// What a kernel in LLVM's dialect must not have: an allocation, a copy, a call, or an operation on f32 for which LLVM
/// calls a scalar function of libm. Fails with an error on the op.
mlir::LogicalResult verifyLoweredKernel(mlir::ModuleOp kernel);

} // namespace ds

#endif // DS_CODEGEN_CPU_H
