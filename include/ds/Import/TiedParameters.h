// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which parameters under several names are one.

#ifndef DS_IMPORT_TIEDPARAMETERS_H
#define DS_IMPORT_TIEDPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace ds {

/// Parameter `copy` has the value of `kept`, or its transpose, and reads it from there.
struct TiedParameter {
  std::string kept, copy;
};

struct Ties {
  std::vector<TiedParameter> tied;
  /// Matrices that begin with the same values (or transposed ones) and are trained apart.
  std::vector<std::vector<std::string>> apart;
};

/// Ties what the file shows to be tied: an f32 matrix under a name that an exporter made, whose initial values (in
/// files below `modelFolder`) are the exact transpose of a parameter under a name of its own, and not symmetric.
/// Constant folding of exporters splits tied embeddings so. Others that begin equal stay apart, and are listed: layers
/// that start as copies or as the identity are far more frequent than exporters that write one parameter twice under
/// two names. Linear in the bytes of matrices of matching shapes, mostly in their first rows.
Ties findTies(mlir::ModuleOp module, llvm::StringRef modelFolder);

/// Ties each of the `groups` of parameter names. Returns what is wrong, else nothing: all of a group must be parameters
/// of one shape with equal initial values, or matrices and their transposes.
std::string tieGroups(mlir::ModuleOp module, llvm::StringRef modelFolder,
                      const std::vector<std::vector<std::string>> &groups);

} // namespace ds

#endif // DS_IMPORT_TIEDPARAMETERS_H
