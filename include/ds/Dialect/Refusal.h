// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Tells what a pass refuses from what it gets wrong.
///
/// A pass that fails has met one of two things: a program that its user asked for and that cannot be compiled, or one
/// that it should never have been given. Only the first is the user's to mend. So a pass says which errors are
/// refusals; every other failure is a defect of this project, and the driver treats it as one (exit code 9).

#ifndef DS_DIALECT_REFUSAL_H
#define DS_DIALECT_REFUSAL_H

#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace ds {

enum class Refusal {
  BadInput,    ///< the model, the recipe or a flag must be changed
  Unsupported, ///< this version cannot do it, or not within the budget
};

/// Emits an error on `op` and marks it as a refusal. The message begins with the op's name, unless it is a function or
/// the module, which mean nothing to users.
mlir::InFlightDiagnostic refuse(mlir::Operation *op, Refusal refusal);

/// How `diagnostic` is marked; nothing: it is no refusal.
std::optional<Refusal> findRefusal(mlir::Diagnostic &diagnostic);

} // namespace ds

#endif // DS_DIALECT_REFUSAL_H
