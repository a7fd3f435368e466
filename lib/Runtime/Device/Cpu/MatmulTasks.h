// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The ways to run a matmul.

#ifndef DS_RUNTIME_DEVICE_CPU_MATMULTASKS_H
#define DS_RUNTIME_DEVICE_CPU_MATMULTASKS_H

#include "Epilogue.h"
#include "MatmulForm.h"

namespace ds::runtime {

/// A matmul's form and memory.
struct MatmulSetup {
  MatmulForm form;
  char *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr; ///< a and b as in the form; bias null if none
  float alpha = 1;
  bool accumulate = false;
  plan::Activation activation = plan::Activation::None;
  plan::DataType type = plan::DataType::F32;
  ScratchSpace *scratch = nullptr;
};

/// Where one product of many begins in its operands.
struct Offsets {
  int64_t a = 0, b = 0, c = 0, bias = 0; ///< bytes
};

/// The offsets of all points of `indices`, the last index fastest; `width`: bytes per element.
std::vector<Offsets> enumerateOffsets(const std::vector<MatmulIndex> &indices, int64_t width);

/// The bias and the activation as a pass of its own over C.
absl::StatusOr<Epilogue> makeEpilogue(const MatmulSetup &setup);

/// Whether B is to be packed into oneDNN's own format before each product: as many rows use it as make up for that, and
/// it does not take much memory. (A variable changes in each step, and what is packed stays so only until then.)
bool packsRight(const MatmulSetup &setup);

/// Whether the product is one for makeBlocksTask: f32 without activation, of some size, on a machine with AVX-512.
bool hasBlocks(const MatmulSetup &setup);

/// By our own blocked product.
TaskOr makeBlocksTask(const MatmulSetup &setup);
/// By oneDNN's matmul primitive "brg" (for bf16 also "gemm"), with the batch inside the primitive or in a loop around
/// it. NotFound if oneDNN has none for these strides.
TaskOr makeProductTask(const MatmulSetup &setup, bool hasBatch);
/// By oneDNN's GEMM driver; f32, isMatrix.
TaskOr makeGemmTask(const MatmulSetup &setup);
/// By plain loops: any strides, any floating-point type.
TaskOr makeLoopTask(const MatmulSetup &setup);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_MATMULTASKS_H
