// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The pass driver for people who work on the compiler.

#include "ds/Codegen/CodegenPasses.h"
#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/CheckEachPass.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

#ifdef DS_INCLUDE_TESTS
namespace ds::test {
void registerTestPasses();
} // namespace ds::test
#endif

static llvm::cl::opt<bool> checkEachPassFlag(
    "check-each-pass",
    llvm::cl::desc("interpret the program before and after every pass, fail at the first that changes a value"));
static llvm::cl::opt<double>
    checkTolerance("check-tolerance", llvm::cl::init(1e-12),
                   llvm::cl::desc("for --check-each-pass: largest change, relative to a tensor's largest entry"));
static llvm::cl::opt<uint64_t> checkSeed("check-seed", llvm::cl::init(0),
                                         llvm::cl::desc("for --check-each-pass: seed of the random inputs"));

/// The driver's options, with the check of values added to its pipeline if it was asked for.
static MlirOptMainConfig configOfFlags() {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (!checkEachPassFlag)
    return config;
  MlirOptMainConfig plain = config;
  config.setPassPipelineSetupFn([plain](PassManager &manager) {
    if (failed(plain.setupPassPipeline(manager)))
      return failure();
    ds::CheckEachPassOptions options;
    options.compare.tolerance = checkTolerance;
    options.compare.seed = checkSeed;
    ds::checkEachPass(manager, options);
    return success();
  });
  return config;
}

static LogicalResult runDriver(int argc, char **argv, DialectRegistry &registry) {
  auto [inputName, outputName] = registerAndParseCLIOptions(argc, argv, "ds-mlir optimizer driver\n", registry);
  const MlirOptMainConfig config = configOfFlags();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, inputName, outputName, registry);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? openOutputFile(outputName, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  DialectRegistry registry;
  ds::registerProgramDialects(registry);
  ds::registerGradientModels(registry);
  registry.insert<LLVM::LLVMDialect>(); // of lowered kernels
  ds::registerPasses();
  ds::registerCodegenPasses();
  registerTransformsPasses();
#ifdef DS_INCLUDE_TESTS
  ds::test::registerTestPasses();
#endif
  return asMainReturnCode(runDriver(argc, argv, registry));
}
