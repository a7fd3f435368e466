// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The compiler: model and config to plan. Exit codes: 0 ok, 2 bad input, 3 unsupported.

#include "ds/Dialect/DsDialect.h"
#include "ds/Import/Onnx.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static llvm::cl::OptionCategory category("ds-compile options");
static llvm::cl::opt<std::string> modelPath(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("<model.onnx>"), llvm::cl::cat(category));
static llvm::cl::opt<std::string> emit("emit", llvm::cl::desc("print the program after this stage: import"), llvm::cl::init("import"),
                                       llvm::cl::cat(category));
static llvm::cl::list<std::string> dims("dim", llvm::cl::desc("the size of a symbolic dim: NAME=SIZE"), llvm::cl::cat(category));

/// Reads NAME=SIZE pairs; false, and a message, if one is none.
static bool readDims(ds::ImportOptions &options) {
  for (const std::string &pair : dims) {
    auto [name, size] = StringRef(pair).split('=');
    int64_t value = 0;
    if (name.empty() || size.getAsInteger(10, value) || value < 1) {
      llvm::errs() << "error: --dim must be NAME=SIZE with a size >= 1, got '" << pair << "'\n";
      return false;
    }
    options.dims[name.str()] = value;
  }
  return true;
}

int main(int argc, char **argv) {
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "compiles a model for training on many devices\n");
  if (emit != "import") {
    llvm::errs() << "error: --emit must be import, got '" << emit << "'\n";
    return 2;
  }
  ds::ImportOptions options;
  if (!readDims(options))
    return 2;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DialectRegistry registry;
  ds::registerProgramDialects(registry);
  context.appendDialectRegistry(registry);
  ds::ImportError error;
  OwningOpRef<ModuleOp> module = ds::importOnnx(context, modelPath, options, error);
  for (const std::string &message : error.messages)
    llvm::errs() << "error: " << message << "\n";
  if (!module)
    return error.exitCode();
  module->print(llvm::outs());
  llvm::outs() << "\n";
  return 0;
}
