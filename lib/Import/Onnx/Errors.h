// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Where an import gathers what is wrong with a file.

#ifndef DS_IMPORT_ONNX_ERRORS_H
#define DS_IMPORT_ONNX_ERRORS_H

#include "ds/Import/Onnx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace ds::onnx_import {

/// Adds to an ImportError, with the file's name before each message. Malformed outweighs unsupported: an unsupported
/// op may be a consequence.
class ErrorSink {
public:
  ErrorSink(ImportError &error, llvm::StringRef file) : error(error), file(file) {}

  mlir::LogicalResult malformed(const llvm::Twine &message) { return add(ImportError::Kind::Malformed, message); }
  mlir::LogicalResult unsupported(const llvm::Twine &message) { return add(ImportError::Kind::Unsupported, message); }
  void addOpenInput(OpenInput input) { error.openInputs.push_back(std::move(input)); }
  bool hasErrors() const { return error.kind != ImportError::Kind::None; }

private:
  mlir::LogicalResult add(ImportError::Kind kind, const llvm::Twine &message) {
    if (error.kind != ImportError::Kind::Malformed)
      error.kind = kind;
    std::string text = (llvm::Twine(file) + ": " + message).str();
    if (!llvm::is_contained(error.messages, text))
      error.messages.push_back(std::move(text));
    return mlir::failure();
  }

  ImportError &error;
  std::string file;
};

} // namespace ds::onnx_import

#endif // DS_IMPORT_ONNX_ERRORS_H
