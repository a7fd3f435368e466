// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/Refusal.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ds;

static constexpr llvm::StringLiteral kBadInput = "ds.bad_input", kUnsupported = "ds.unsupported";

InFlightDiagnostic ds::refuse(Operation *op, Refusal refusal) {
  InFlightDiagnostic error = isa<FunctionOpInterface, ModuleOp>(op) ? op->emitError() : op->emitOpError();
  const llvm::StringRef mark = refusal == Refusal::BadInput ? kBadInput : kUnsupported;
  error.getUnderlyingDiagnostic()->getMetadata().emplace_back(mark);
  return error;
}

std::optional<Refusal> ds::findRefusal(Diagnostic &diagnostic) {
  for (const DiagnosticArgument &argument : diagnostic.getMetadata()) {
    if (argument.getKind() != DiagnosticArgument::DiagnosticArgumentKind::String)
      continue;
    if (argument.getAsString() == kBadInput)
      return Refusal::BadInput;
    if (argument.getAsString() == kUnsupported)
      return Refusal::Unsupported;
  }
  return std::nullopt;
}
