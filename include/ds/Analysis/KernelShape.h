// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How a kernel is cut into rows, columns and chunks. Needs no code generator.

#ifndef DS_ANALYSIS_KERNELSHAPE_H
#define DS_ANALYSIS_KERNELSHAPE_H

#include "ds/Analysis/OpStructure.h"
#include "ds/Dialect/DsDialect.h"

namespace ds {

/// The least work of a chunk: about what one thread does in 5 to 20 microseconds.
inline constexpr int64_t kElementsPerKernelChunk = 16384;
/// Of one call over the elements of a tensor.
inline constexpr int64_t kMaxKernelChunks = 64;

/// Memory that a kernel needs beside its inputs and results: [KernelShape::chunks, elements].
struct KernelWorkspace {
  mlir::Type element;   ///< stored as in a tensor of this element type
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
  /// How many operations of a CPU it takes, about: loads, arithmetic and reductions of all passes.
  double operations = 0;
  /// The partial sums of each result that is folded over rows, in the order of the results; then rows of scratch.
  llvm::SmallVector<KernelWorkspace> workspaces;
  /// Whether a result is folded over rows, so that `<symbol>_finish` must run after all chunks.
  bool hasFinish = false;
};

/// The shape of `kernel` on `mesh`. Fails, with an error on the op, if its ops do not run over one space of rows and
/// columns.
mlir::FailureOr<KernelShape> analyzeKernel(KernelOp kernel, const Mesh &mesh);

/// Whether `op` may write result number `result` into the buffer of operand number `operand`. That works if elements of
/// both have one size and stand at the same places, and if an element of the operand is never read after the element of
/// the result at that place is written. Only one result may be written into each operand. False if `op` is a kernel
/// that has no shape.
bool mayShareBuffer(mlir::Operation *op, unsigned result, unsigned operand);

/// The answers of `mayShareBuffer`, found once for all kernels of one structure.
class BufferSharing {
public:
  bool isAllowed(mlir::Operation *op, unsigned result, unsigned operand);

private:
  /// By the first kernel of a structure, result and operand.
  llvm::DenseMap<std::tuple<mlir::Operation *, unsigned, unsigned>, bool> answers;
  StructureSet firsts;
  mlir::Operation *asked = nullptr, *first = nullptr; ///< the last kernel asked for, and the first of its structure
};

} // namespace ds

#endif // DS_ANALYSIS_KERNELSHAPE_H
