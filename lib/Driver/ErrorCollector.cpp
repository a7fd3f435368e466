// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ErrorCollector.h"

#include "ds/Dialect/Refusal.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds;

/// The name of the model's node, with a colon; empty if the location has none.
static std::string nameOf(Location location) {
  std::string name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str() + ": ";
    return WalkResult::interrupt();
  });
  return name;
}

static std::string textOf(Diagnostic &diagnostic) {
  std::string text = nameOf(diagnostic.getLocation()) + diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    text += "\nnote: " + nameOf(note.getLocation()) + note.str();
  return text;
}

ErrorCollector::ErrorCollector(MLIRContext *context, Say say)
    : say(std::move(say)), handler(context, [this](Diagnostic &diagnostic) {
        handle(diagnostic);
        return success();
      }) {}

void ErrorCollector::handle(Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Note:
    return say("note: " + textOf(diagnostic));
  case DiagnosticSeverity::Warning:
    return say("warning: " + textOf(diagnostic));
  case DiagnosticSeverity::Remark:
    return say("remark: " + textOf(diagnostic));
  case DiagnosticSeverity::Error:
    break;
  }
  const std::optional<Refusal> refusal = findRefusal(diagnostic);
  (refusal ? refusals : errors).push_back(textOf(diagnostic));
  if (refusal == Refusal::BadInput)
    refusalCode = absl::StatusCode::kInvalidArgument;
}

absl::Status ErrorCollector::failureOf(const std::string &work, const std::string &pass) const {
  if (!refusals.empty())
    return absl::Status(refusalCode, llvm::join(refusals, "\n"));
  const std::string what = pass.empty() ? work : "pass " + pass;
  if (errors.empty())
    return absl::InternalError(what + " failed without a message");
  return absl::InternalError((pass.empty() ? "" : what + " failed: ") + llvm::join(errors, "\n"));
}
