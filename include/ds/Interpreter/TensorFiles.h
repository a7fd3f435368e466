// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Tensors in files: ranges named by the IR, .npy, .safetensors. Input is hostile: sizes are checked before they are
/// used.

#ifndef DS_INTERPRETER_TENSOR_FILES_H
#define DS_INTERPRETER_TENSOR_FILES_H

#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/DenseTensor.h"

#include "llvm/Support/Error.h"

namespace ds {

/// The little-endian elements of a tensor of `type` in a file below `folder`.
llvm::Expected<DenseTensor> readFileRange(llvm::StringRef folder, FileRangeAttr range, mlir::RankedTensorType type);

/// The whole array of a .npy file (version 1 to 3, C order, floats, integers and bools).
llvm::Expected<DenseTensor> readNpy(llvm::StringRef path);

/// All tensors of a .safetensors file by name.
llvm::Expected<TensorMap> readSafetensors(llvm::StringRef path);

/// Entry `index` of dim 0.
llvm::Expected<DenseTensor> entryOf(const DenseTensor &tensor, int64_t index);

} // namespace ds

#endif // DS_INTERPRETER_TENSOR_FILES_H
