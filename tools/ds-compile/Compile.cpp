// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Compile.h"

#include "ds/Codegen/EmitPlan.h"
#include "ds/Config/TrainingConfig.h"
#include "ds/Import/Onnx.h"
#include "ds/Import/TiedParameters.h"
#include "ds/Interpreter/CheckEachPass.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Pipelines.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace ds;

namespace {

constexpr int kBadInput = 2, kUnsupported = 3;

void printError(const Twine &text) { llvm::errs() << "error: " << text << "\n"; }

int exitCodeOf(const absl::Status &status) { return status.code() == absl::StatusCode::kUnimplemented ? kUnsupported : kBadInput; }

/// One run of the compiler; each step returns an exit code, 0 to go on.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options) : options(options), context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerProgramDialects(registry);
    registerGradientModels(registry);
    context.appendDialectRegistry(registry);
  }

  int run() {
    static const char *const stages[] = {"import", "program", "placement", "kernels", "schedule", "plan"};
    if (!llvm::is_contained(stages, options.emit)) {
      printError("--emit must be import, program, placement, kernels, schedule or plan, got '" + Twine(options.emit) + "'");
      return kBadInput;
    }
    for (auto step : {&Compilation::readConfig, &Compilation::readDims, &Compilation::import, &Compilation::addLayouts, &Compilation::runStages})
      if (int code = (this->*step)())
        return code;
    return options.emit == "plan" ? writePlan() : writeProgram();
  }

private:
  int readConfig();
  int readDims();
  int import();
  int addLayouts();
  int runStages();
  int writeProgram();
  int writePlan();
  int64_t dataParallelRanks();
  std::string fingerprint();

  const CompileOptions &options;
  MLIRContext context;
  TrainingConfig config;
  std::string configText;
  Batch batch;
  ImportOptions importOptions;
  OwningOpRef<ModuleOp> module;
};

/// Splits NAME=SIZE; false, and a message, if it is none.
bool readPair(StringRef flag, StringRef pair, StringRef &name, int64_t &size) {
  StringRef text;
  std::tie(name, text) = pair.split('=');
  if (!name.empty() && !text.getAsInteger(10, size) && size >= 1)
    return true;
  printError("--" + flag + " must be NAME=SIZE with a size >= 1, got '" + pair + "'");
  return false;
}

int64_t Compilation::dataParallelRanks() {
  for (const std::string &axis : options.axes) {
    auto [name, size] = StringRef(axis).split('=');
    int64_t value = 1;
    if (name == "dp" && !size.getAsInteger(10, value))
      return value;
  }
  return 1;
}

int Compilation::readConfig() {
  if (options.configPath.empty()) {
    if (options.emit == "import" || options.isInference)
      return 0;
    printError("--config FILE must be given: the recipe of the training step");
    return kBadInput;
  }
  if (auto file = llvm::MemoryBuffer::getFile(options.configPath))
    configText = (*file)->getBuffer().str();
  absl::StatusOr<TrainingConfig> parsed = loadTrainingConfig(options.configPath);
  if (!parsed.ok()) {
    printError(std::string(parsed.status().message()));
    return exitCodeOf(parsed.status());
  }
  config = *parsed;
  absl::StatusOr<Batch> resolved = resolveBatch(config, dataParallelRanks());
  if (!resolved.ok()) {
    printError(Twine(options.configPath) + ": " + std::string(resolved.status().message()));
    return exitCodeOf(resolved.status());
  }
  batch = *resolved;
  return 0;
}

int Compilation::readDims() {
  importOptions.dims = config.model.dims;
  if (!options.configPath.empty() && !options.isInference)
    importOptions.defaultDims["batch"] = batch.partSize();
  for (const std::string &pair : options.inputShapes) {
    auto [name, text] = StringRef(pair).rsplit('=');
    SmallVector<StringRef> sizes;
    text.split(sizes, 'x');
    for (StringRef size : sizes)
      if (name.empty() || size.getAsInteger(10, importOptions.inputShapes[name.str()].emplace_back())) {
        printError("--input-shape must be NAME=8x32, got '" + Twine(pair) + "'");
        return kBadInput;
      }
  }
  for (const std::string &pair : options.dims) {
    StringRef name;
    int64_t size = 0;
    if (!readPair("dim", pair, name, size))
      return kBadInput;
    importOptions.dims[name.str()] = size;
  }
  for (const std::string &axis : options.axes) {
    StringRef name;
    int64_t size = 0;
    if (!readPair("mesh", axis, name, size))
      return kBadInput;
  }
  return 0;
}

int Compilation::import() {
  ImportError error;
  module = importOnnx(context, options.modelPath, importOptions, error);
  for (const std::string &message : error.messages)
    printError(message);
  if (!module || options.keepsTransposes)
    return error.exitCode();
  StringRef folder = llvm::sys::path::parent_path(options.modelPath);
  for (const TiedParameter &tied : tieParameters(*module, folder.empty() ? "." : folder))
    llvm::errs() << "note: " << tied.copy << " is the transpose of " << tied.kept << ": trained as one parameter (--keep-transposes: as two)\n";
  return error.exitCode();
}

int Compilation::addLayouts() {
  SymbolTable symbols(*module);
  for (const std::string &pair : options.layouts) {
    auto [name, text] = StringRef(pair).split('=');
    auto variable = symbols.lookup<VariableOp>(name);
    if (!variable) {
      printError("--layout must name a parameter of the model, got '" + name + "'");
      return kBadInput;
    }
    auto layout = dyn_cast_or_null<LayoutAttr>(parseAttribute(("#ds.layout<" + text + ">").str(), &context));
    if (!layout || layout.getLayout().dims.size() != static_cast<size_t>(variable.getTensorType().getRank())) {
      printError("--layout must be name=[dims] with one entry per dim of " + name + ", got '" + text + "'");
      return kBadInput;
    }
    variable.setLayoutAttr(layout);
  }
  return 0;
}

int Compilation::runStages() {
  PassManager manager(&context);
  if (options.printTiming)
    manager.enableTiming();
  if (options.checkEachPass) {
    CheckEachPassOptions check;
    check.compare.tolerance = 1e-6; // composites and their parts round constants to f32 at different places
    ds::checkEachPass(manager, check);
  }
  buildImportPipeline(manager);
  // The stages up to the one that is asked for.
  int last = llvm::StringSwitch<int>(options.emit).Case("import", 0).Case("program", 1).Case("placement", 2).Case("kernels", 3).Default(4);
  if (last >= 1 && !options.isInference)
    buildProgramPipeline(manager, programOptionsFrom(config, batch));
  PlacementOptions placement;
  placement.axes = options.axes;
  placement.zeroStage = options.isInference ? 0 : options.zeroStage >= 0 ? options.zeroStage : config.zero.stage;
  if (last >= 2)
    buildPlacementPipeline(manager, placement);
  if (last >= 3)
    buildKernelPipeline(manager);
  if (last >= 4)
    buildSchedulePipeline(manager);
  return succeeded(manager.run(*module)) ? 0 : kUnsupported;
}

int Compilation::writeProgram() {
  std::string message;
  auto file = openOutputFile(options.outputPath.empty() ? "-" : options.outputPath, &message);
  if (!file) {
    printError(message);
    return kBadInput;
  }
  module->print(file->os());
  file->os() << "\n";
  file->keep();
  return 0;
}

std::string Compilation::fingerprint() {
  llvm::SHA256 hash;
  if (auto model = llvm::MemoryBuffer::getFile(options.modelPath, false, false))
    hash.update((*model)->getBuffer());
  hash.update(configText);
  for (const auto &list : {options.axes, options.layouts, options.dims})
    for (const std::string &text : list)
      hash.update(text);
  hash.update(std::to_string(options.zeroStage) + options.cpu + (options.isInference ? "infer" : "train"));
  return llvm::toHex(hash.final(), true);
}

int Compilation::writePlan() {
  if (options.outputPath.empty()) {
    printError("-o FILE must be given: where the plan goes");
    return kBadInput;
  }
  EmitOptions emit;
  emit.function = options.isInference ? "forward" : "step";
  emit.config = configText;
  emit.fingerprint = fingerprint();
  emit.memoryBudget = options.memoryBudget;
  emit.cpu.cpu = options.cpu;
  FailureOr<std::unique_ptr<plan::PlanT>> plan = emitPlan(*module, emit);
  if (failed(plan))
    return kUnsupported;
  if (absl::Status status = plan::savePlan(**plan, options.outputPath); !status.ok()) {
    printError(std::string(status.message()));
    return kBadInput;
  }
  const plan::PeakReportT &peak = *(*plan)->peaks.front();
  llvm::errs() << "compiled: " << peak.peak_bytes << " bytes of memory per rank (at least " << peak.lower_bound_bytes
               << " are needed), " << (*plan)->kernels.size() << " kernels\n";
  return 0;
}

} // namespace

int ds::compile(const CompileOptions &options) { return Compilation(options).run(); }
