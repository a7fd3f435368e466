// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Ties weights again that an exporter has split.

#ifndef DS_IMPORT_TIEDPARAMETERS_H
#define DS_IMPORT_TIEDPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace ds {

/// Parameter `copy` was the exact transpose of `kept`, and reads it now.
struct TiedParameter {
  std::string kept, copy;
};

/// Finds f32 matrices whose initial values, in files below `modelFolder`, are the exact transpose of another's and not
/// all equal, and makes them one parameter: the one declared first. Constant folding of exporters splits tied
/// embeddings so. Linear in the bytes of matrices of matching shapes, mostly in their first rows.
std::vector<TiedParameter> tieParameters(mlir::ModuleOp module, llvm::StringRef modelFolder);

} // namespace ds

#endif // DS_IMPORT_TIEDPARAMETERS_H
