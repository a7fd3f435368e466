// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// ONNX files to programs of the ds dialect.

#ifndef DS_IMPORT_ONNX_H
#define DS_IMPORT_ONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ds {

/// What a float tensor of a model file is for: trained, or kept as it is.
enum class TensorRole { Parameter, Buffer };

/// What the model file leaves open.
struct ImportOptions {
  std::map<std::string, int64_t>
      dims; ///< symbolic dim name -> size, e.g. batch, sequence; the model must have them all
  /// The size of the batch dim if `dims` does not have it: of the symbolic dim "batch", else of the one that is dim 0
  /// of the first input with a symbolic dim 0.
  std::optional<int64_t> batch;
  std::map<std::string, std::vector<int64_t>> inputShapes; ///< input name -> shape, for dims in neither
  bool isTraining = false; ///< the file is to be trained: what old ones leave out in inference must not be left out
  std::vector<std::string> stopGradient; ///< values of the graph that become a `ds.stop_gradient`; each must be used
  /// What the user says of a float tensor, by its name in the program; null, or nothing: what the file shows.
  std::function<std::optional<TensorRole>(llvm::StringRef name)> findRole;
};

/// A tensor of which the file does not tell what PyTorch would do with it, and what was assumed.
struct TensorDoubt {
  enum class Kind {
    Parameter, ///< trained: its name does not say that it is a parameter, or a buffer
    Buffer,    ///< not trained, as its name is one that tables have
    Constant,  ///< neither trained nor saved: one number, or something that the exporter computed
    Renamed,   ///< trained under a name that the exporter made; usually the transpose of the parameter
    Shared     ///< the weight of several norms, all of whose elements are equal: exporters merge such parameters
  };
  Kind kind;
  std::string name; ///< in the program
};

/// An input some of whose dims have no size.
struct OpenInput {
  std::string name;
  std::vector<std::string> dims; ///< numbers, and names of symbolic dims
};

/// Why an import failed. A malformed file is the user's fault (exit code 2), an unsupported one ours (exit code 3).
struct ImportError {
  enum class Kind { None, Malformed, Unsupported };
  Kind kind = Kind::None;
  std::vector<std::string> messages; ///< each names the file, and the node and its op where there is one
  std::vector<OpenInput> openInputs; ///< if symbolic dims are not bound: what the data must have the shape of

  int exitCode() const { return kind == Kind::None ? 0 : kind == Kind::Malformed ? 2 : 3; }
};

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null if the import failed
  std::vector<std::string> tensors;         ///< names of all float tensors that `findRole` was asked for
  std::vector<TensorDoubt> doubts;          ///< about those of which `findRole` says nothing
};

/// Imports the model file `path` (opsets 7 to 23) as a function @forward and the variables it reads.
///
/// All shapes are static in the result and all shape arithmetic is folded. Inputs and outputs carry `ds.name`; inputs
/// without batch dim carry `ds.whole`. Float initializers become variables under their names, less one leading "model."
/// if all have it; their data stays in the file. docs/import.md tells which are parameters. Fills `error` if the file
/// is malformed or has an op that is not supported; then all such nodes are listed at once. Composites are still spelt
/// out: see Recognize.h.
ImportedModel importOnnx(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options,
                         ImportError &error);

/// The files that the model file `path` keeps data of its tensors in, as it names them: sorted, each once. Empty if it
/// is malformed, which importOnnx tells.
std::vector<std::string> externalFiles(const std::string &path);

} // namespace ds

#endif // DS_IMPORT_ONNX_H
