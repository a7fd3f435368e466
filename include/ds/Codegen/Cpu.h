// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Native code for kernels on the CPU.
///
/// A ds.kernel runs over its iteration space row by row. Its functions, as the plan calls them:
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
/// A ds.fused_attention and its gradient: extents are those of the letters b, k, g, s and t (g of length 1 if there is
/// none), the last buffer is a workspace. An f32 ds.rotary_embedding: for each run of dims of the tables, from the
/// last, the rows of the dims between it and the run after it, and its own; then the width. Buffers: input, cosine,
/// sine, result.
///
/// No size is baked into the code, so kernels that differ only in sizes or layouts are one.

#ifndef DS_CODEGEN_CPU_H
#define DS_CODEGEN_CPU_H

#include "ds/Codegen/KernelCompiler.h"

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

/// The compiler of kernels for a CPU, into a shared object (ELF). `context` is where the kernels live; loads the
/// dialects that code generation goes through. Fails with an error on an unknown CPU.
mlir::FailureOr<std::unique_ptr<KernelCompiler>> createCpuCompiler(mlir::MLIRContext *context,
                                                                   const CpuOptions &options = {});

} // namespace ds

#endif // DS_CODEGEN_CPU_H
