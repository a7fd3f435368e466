// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// ONNX files to programs of the ds dialect.

#ifndef DS_IMPORT_ONNX_H
#define DS_IMPORT_ONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ds {

/// What the model file leaves open.
struct ImportOptions {
  std::map<std::string, int64_t>
      dims; ///< symbolic dim name -> size, e.g. batch, sequence; the model must have them all
  std::map<std::string, int64_t> defaultDims; ///< the same for dims not in `dims`; the model need not have them
  std::map<std::string, std::vector<int64_t>> inputShapes; ///< input name -> shape, for dims in neither
  std::vector<std::string> stopGradient; ///< values of the graph that become a `ds.stop_gradient`; each must be used
};

/// Why an import failed. A malformed file is the user's fault (exit code 2), an unsupported one ours (exit code 3).
struct ImportError {
  enum class Kind { None, Malformed, Unsupported };
  Kind kind = Kind::None;
  std::vector<std::string> messages; ///< each names the file, and the node and its op where there is one

  int exitCode() const { return kind == Kind::None ? 0 : kind == Kind::Malformed ? 2 : 3; }
};

/// Imports the model file `path` (opsets 13 to 17) as a function @forward and the variables it reads.
///
/// All shapes are static in the result and all shape arithmetic is folded. Inputs and outputs carry `ds.name`. Float
/// initializers become variables under their names, less one leading "model." if all have it; their data stays in the
/// file. Returns null and fills `error` if the file is malformed or has an op that is not supported; then all such
/// nodes are listed at once. Composites are still spelt out: see Recognize.h.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportError &error);

} // namespace ds

#endif // DS_IMPORT_ONNX_H
