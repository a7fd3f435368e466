// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From MLIR's diagnostics to a status.

#ifndef DS_LIB_DRIVER_ERRORCOLLECTOR_H
#define DS_LIB_DRIVER_ERRORCOLLECTOR_H

#include "absl/status/status.h"
#include "mlir/IR/Diagnostics.h"

#include <functional>
#include <string>
#include <vector>

namespace ds {

/// Takes all diagnostics of a context while it lives: keeps the errors, and tells everything else as a line.
class ErrorCollector {
public:
  using Say = std::function<void(const std::string &line)>;
  ErrorCollector(mlir::MLIRContext *context, Say say);

  /// What a failure of `work`, in `pass` if that is not empty, means: the refusals among the errors (Refusal.h), as
  /// InvalidArgument or Unimplemented. If there are none, Internal with all errors.
  absl::Status failureOf(const std::string &work, const std::string &pass) const;

private:
  void handle(mlir::Diagnostic &diagnostic);

  Say say;
  std::vector<std::string> errors, refusals;
  absl::StatusCode refusalCode = absl::StatusCode::kUnimplemented; ///< InvalidArgument if one of them is
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ds

#endif // DS_LIB_DRIVER_ERRORCOLLECTOR_H
