// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PassRecorder.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ds;

std::string ds::reproducerOf(ModuleOp module, const std::string &pipeline) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, OpPrintingFlags().enableDebugInfo());
  if (pipeline.empty())
    return text;
  // As MLIR writes its reproducers.
  out << "\n{-#\n  external_resources: {\n    mlir_reproducer: {\n      pipeline: \"";
  llvm::printEscapedString("builtin.module(" + pipeline + ")", out);
  out << "\",\n      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n";
  return text;
}

/// Passes that only hold others are none of ours, and have no flag.
static bool isOurs(Pass *pass) { return !pass->getArgument().empty(); }

static std::string pipelineOf(Pass *pass, Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  pass->printAsTextualPipeline(out);
  return isa<ModuleOp>(op) ? text : op->getName().getStringRef().str() + "(" + text + ")";
}

void PassRecorder::runBeforePass(Pass *pass, Operation *op) {
  if (!remember || !isOurs(pass))
    return;
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  remember(reproducerOf(module, pipelineOf(pass, op)));
}

void PassRecorder::runAfterPassFailed(Pass *pass, Operation *) {
  if (failedPass.empty() && isOurs(pass)) // the first: those that hold it fail after it
    failedPass = pass->getArgument().str();
}
