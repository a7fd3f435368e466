// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Compile.h"

#include "InputChecks.h"
#include "TrainedTensors.h"

#include "ds/Codegen/EmitPlan.h"
#include "ds/Config/Machine.h"
#include "ds/Config/TrainingConfig.h"
#include "ds/Dialect/Names.h"
#include "ds/Interpreter/CheckEachPass.h"
#include "ds/Passes/LabelMean.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Pipelines.h"
#include "ds/Plan/Inspect.h"
#include "ds/Runtime/Session/File.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace ds;

namespace {

constexpr int kBadInput = 2, kUnsupported = 3;

void printError(const Twine &text) { llvm::errs() << "error: " << text << "\n"; }

int exitCodeOf(const absl::Status &status) {
  return status.code() == absl::StatusCode::kUnimplemented ? kUnsupported : kBadInput;
}

/// One run of the compiler; each step returns an exit code, 0 to go on.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options) : options(options), context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerProgramDialects(registry);
    registerGradientModels(registry);
    context.appendDialectRegistry(registry);
    timingManager.setEnabled(options.printTiming);
    timing = timingManager.getRootScope();
  }

  int run() {
    static const char *const stages[] = {"import", "program", "placement", "kernels", "schedule", "plan"};
    if (!llvm::is_contained(stages, options.emit)) {
      printError("--emit must be import, program, placement, kernels, schedule or plan, got '" + Twine(options.emit) +
                 "'");
      return kBadInput;
    }
    for (auto step :
         {&Compilation::checkOutput, &Compilation::readMesh, &Compilation::readMachine, &Compilation::readConfig,
          &Compilation::readDims, &Compilation::import, &Compilation::findLoss, &Compilation::checkTraining,
          &Compilation::checkInputs, &Compilation::addLayouts, &Compilation::runStages})
      if (int code = (this->*step)())
        return code;
    return options.emit == "plan" ? writePlan() : writeProgram();
  }

  OwningOpRef<ModuleOp> takeModule() { return std::move(module); }

private:
  /// Whether there is a training step with a batch that the config tells.
  bool hasBatch() const { return !options.isInference && options.emit != "import"; }
  int report(const absl::Status &status, const Twine &prefix = "");

  int checkOutput();
  int readMesh();
  int readMachine();
  int readConfig();
  int readDims();
  int import();
  int chooseTrained(ImportedModel imported);
  int checkLoss(const std::string &name, Value output);
  int findLoss();
  int checkTraining();
  int checkInputs();
  LayoutAttr parseLayout(VariableOp variable, StringRef text);
  int addLayouts();
  LogicalResult runPasses(TimingScope &scope, llvm::function_ref<void(OpPassManager &)> build);
  LogicalResult startKernels();
  int runStages();
  int writeProgram();
  int writePlan();
  std::string fingerprint();
  std::string functionName() const { return options.isInference ? "forward" : "step"; }

  const CompileOptions &options;
  std::vector<std::string> axes; ///< of options, with dp
  Mesh mesh;
  MLIRContext context;
  DefaultTimingManager timingManager;
  TimingScope timing;
  TrainingConfig config;
  std::string configText;
  Batch batch;
  ImportOptions importOptions;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<CpuCompiler> kernels;
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

int Compilation::report(const absl::Status &status, const Twine &prefix) {
  if (status.ok())
    return 0;
  printError(prefix + std::string(status.message()));
  return exitCodeOf(status);
}

/// Before the work whose result goes there.
int Compilation::checkOutput() {
  if (options.outputPath.empty() && options.emit == "plan") {
    printError("-o FILE must be given: where the plan goes");
    return kBadInput;
  }
  const bool isStandard = options.outputPath.empty() || options.outputPath == "-" || options.outputPath == "/dev/null";
  return isStandard ? 0 : report(runtime::checkWritable(options.outputPath));
}

int Compilation::readMesh() {
  constexpr int64_t maxRanks = 1 << 20;
  std::vector<MeshAxis> axes;
  int64_t ranks = 1;
  this->axes = options.axes;
  if (llvm::none_of(this->axes, [](StringRef axis) { return axis.starts_with("dp="); }))
    this->axes.insert(this->axes.begin(), "dp=1"); // samples need an axis, be it of one rank
  for (const std::string &axis : this->axes) {
    StringRef name;
    int64_t size = 0;
    if (!readPair("mesh", axis, name, size))
      return kBadInput;
    const bool isNew = llvm::none_of(axes, [&, name = name](const MeshAxis &other) { return other.name == name; });
    if (!isNew || size > maxRanks || (ranks *= size) > maxRanks) {
      printError("--mesh must have each axis once and at most 1048576 ranks, got '" + llvm::join(options.axes, ",") +
                 "'");
      return kBadInput;
    }
    axes.push_back({name.str(), size, {}});
  }
  mesh = Mesh(axes);
  if (options.zeroStage < -1 || options.zeroStage > 3) {
    printError("--zero-stage must be 0 to 3, got " + Twine(options.zeroStage));
    return kBadInput;
  }
  return 0;
}

int Compilation::readMachine() { return report(findMachine(options.machine).status(), "--machine: "); }

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
  if (!parsed.ok())
    return report(parsed.status());
  config = *parsed;
  absl::StatusOr<Batch> resolved = resolveBatch(config, mesh.findAxis("dp") ? mesh.axisSize("dp") : 1);
  if (!resolved.ok())
    return report(resolved.status(), options.configPath + ": ");
  batch = *resolved;
  return 0;
}

int Compilation::readDims() {
  importOptions.dims = config.model.dims;
  if (!options.isInference)
    importOptions.stopGradient = config.model.stopGradient;
  if (!options.configPath.empty() && !options.isInference)
    importOptions.batch = batch.partSize();
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
  auto bound = importOptions.dims.find("batch");
  if (bound == importOptions.dims.end() || bound->second == batch.partSize() || !hasBatch())
    return 0;
  printError("dim 'batch' must be " + Twine(batch.partSize()) + ", \"train_batch_size\" " + Twine(batch.train) +
             " / \"gradient_accumulation_steps\" " + Twine(batch.accumulation) + " of " + options.configPath +
             ", got " + Twine(bound->second));
  return kBadInput;
}

int Compilation::import() {
  TimingScope scope = timing.nest("import");
  ImportError error;
  importOptions.findRole = findRoleBy(config.model);
  ImportedModel imported = importOnnx(context, options.modelPath, importOptions, error);
  if (options.data)
    if (int code = report(checkOpenInputs(error.openInputs, *options.data)))
      return code;
  for (const std::string &message : error.messages)
    printError(message);
  return imported.module ? chooseTrained(std::move(imported)) : error.exitCode();
}

/// Settles which tensors are parameters, and which of these are one, and tells what was assumed.
int Compilation::chooseTrained(ImportedModel imported) {
  module = std::move(imported.module);
  StringRef folder = llvm::sys::path::parent_path(options.modelPath);
  absl::Status roles = checkRoles(config.model, imported.tensors);
  absl::StatusOr<Ties> ties = tieParameters(*module, config.model, folder.empty() ? "." : folder);
  for (const absl::Status &status : {roles, ties.status()})
    if (int code = report(status, options.configPath + ": "))
      return code;
  if (!options.isQuiet && !options.isInference)
    llvm::errs() << warnOfExporter(imported) << noteAssumptions(imported, *ties);
  return 0;
}

/// Whether an output can be a loss: one number, and a mean over labels if it shall be one over those of all parts.
int Compilation::checkLoss(const std::string &name, Value output) {
  auto tensor = cast<RankedTensorType>(output.getType());
  const bool isScalar = tensor.getNumElements() == 1 && isa<FloatType>(tensor.getElementType());
  if (isScalar && config.model.loss.mean == LossMean::Labels && !findLabelMean(output)) {
    printError(options.configPath + ": \"model.loss.mean\" must be \"parts\": '" + name + "' of " + options.modelPath +
               " is no mean cross entropy over labels; \"model.loss.logits\" attaches one");
    return kBadInput;
  }
  if (isScalar)
    return 0;
  std::string got;
  llvm::raw_string_ostream(got) << tensor;
  printError(options.modelPath + ": output '" + name + "' must be one float to be the loss, got " + got +
             "; take its mean in the model, or let \"model.loss.logits\" of " + options.configPath +
             " name the output that cross entropy is attached to");
  return kBadInput;
}

/// The recipe must name an output of the model: said here, where both files are known.
int Compilation::findLoss() {
  if (options.isInference || options.emit == "import")
    return 0;
  const LossConfig &loss = config.model.loss;
  const std::string &name = loss.isAttached() ? loss.logits : loss.output;
  auto forward = *module->getOps<func::FuncOp>().begin();
  SmallVector<std::string> outputs;
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    if (auto output = forward.getResultAttrOfType<StringAttr>(i, kNameAttr)) {
      outputs.push_back("'" + output.str() + "'");
      if (output == name)
        return loss.isAttached() ? 0 : checkLoss(name, forward.front().getTerminator()->getOperand(i));
    }
  printError(Twine(options.configPath) + ": \"model.loss." + (loss.isAttached() ? "logits" : "output") +
             "\" must name an output of " + options.modelPath + ", got '" + name + "'; it has " +
             llvm::join(outputs, ", "));
  return kBadInput;
}

/// There must be something to train, and a way to train it.
int Compilation::checkTraining() {
  if (options.isInference || options.emit == "import")
    return 0;
  const LossConfig &loss = config.model.loss;
  const std::string &output = loss.isAttached() ? loss.logits : loss.output;
  if (int code = report(checkTrainable(*module, config.model, output), options.configPath + ": "))
    return code;
  if (options.emit != "plan" || config.optimizer.kind != OptimizerKind::None)
    return 0;
  printError(options.configPath + ": \"optimizer\" must be given to train, like {\"type\": \"AdamW\", \"params\": "
                                  "{\"lr\": 1e-4}}");
  return kBadInput;
}

/// What the config and the data say about inputs must fit the model's.
int Compilation::checkInputs() {
  auto forward = *module->getOps<func::FuncOp>().begin();
  if (hasBatch())
    if (int code = report(checkBatch(forward, batch), options.configPath + ": "))
      return code;
  if (!options.data)
    return 0;
  // A forward function has neither an attached loss nor parts.
  const LossConfig loss = options.isInference ? LossConfig() : config.model.loss;
  return report(
      checkData(inputsOfStep(forward, loss, hasBatch() ? batch.accumulation : 1), *options.data, options.tokenType));
}

/// The layout that `text` spells for `variable`, or null and a message.
LayoutAttr Compilation::parseLayout(VariableOp variable, StringRef text) {
  LayoutAttr layout;
  {
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); }); // the message below says it all
    layout = dyn_cast_or_null<LayoutAttr>(parseAttribute(("#ds.layout<" + text + ">").str(), &context));
  }
  StringRef name = nameOf(variable);
  if (!layout || layout.getLayout().dims.size() != static_cast<size_t>(variable.getTensorType().getRank())) {
    printError("--layout must be name=[dims] with one entry per dim of " + name + ", got '" + text + "'");
    return {};
  }
  if (std::optional<std::string> fault = findLayoutFault(layout.getLayout(), shapeOf(variable.getType()), mesh)) {
    printError("--layout of " + name + " " + *fault + ", got '" + text + "'");
    return {};
  }
  return layout;
}

int Compilation::addLayouts() {
  SymbolTable symbols(*module);
  for (const std::string &pair : options.layouts) {
    auto [name, text] = StringRef(pair).split('=');
    auto variable = symbols.lookup<VariableOp>(symbolFor(name));
    if (!variable) {
      printError("--layout must name a parameter of the model, got '" + name + "'");
      return kBadInput;
    }
    LayoutAttr layout = parseLayout(variable, text);
    if (!layout)
      return kBadInput;
    variable.setLayoutAttr(layout);
  }
  return 0;
}

/// Remarks of all passes, printed as diagnostics.
static void printRemarks(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.all = "ds-.*";
  (void)remark::enableOptimizationRemarks(context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                          categories,
                                          /*printAsEmitRemarks=*/true);
}

LogicalResult Compilation::runPasses(TimingScope &scope, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context);
  // Each stage verifies what it promises; the ops themselves are verified once, at the end, as that takes as long as a
  // pass.
  manager.enableVerifier(options.checkEachPass);
  manager.enableTiming(scope);
  build(manager);
  if (options.checkEachPass) {
    CheckEachPassOptions check;
    check.compare.tolerance = options.checkTolerance;
    ds::checkEachPass(manager, check);
  }
  return manager.run(*module);
}

/// Begins to compile the kernels on all cores.
LogicalResult Compilation::startKernels() {
  context.enableMultithreading();
  FailureOr<std::unique_ptr<CpuCompiler>> compiler =
      CpuCompiler::create(&context, {options.cpu, context.getNumThreads(), options.kernelCache});
  if (failed(compiler))
    return failure();
  kernels = std::move(*compiler);
  if (options.checkEachPass) // which is not for several threads
    return success();
  return kernels->start(module->lookupSymbol<func::FuncOp>(functionName()), meshOf(*module));
}

int Compilation::runStages() {
  if (options.printRemarks)
    printRemarks(context);
  TimingScope scope = timing.nest("passes");
  // The stages up to the one that is asked for.
  int last = llvm::StringSwitch<int>(options.emit)
                 .Case("import", 0)
                 .Case("program", 1)
                 .Case("placement", 2)
                 .Case("kernels", 3)
                 .Case("schedule", 4)
                 .Default(5);
  PlacementOptions placement;
  placement.axes = axes;
  placement.zeroStage = options.isInference ? 0 : options.zeroStage >= 0 ? options.zeroStage : config.zero.stage;
  auto buildKernels = [&](OpPassManager &manager) {
    buildImportPipeline(manager);
    if (last >= 1 && !options.isInference)
      buildProgramPipeline(manager, programOptionsFrom(config, batch));
    if (last >= 2)
      buildPlacementPipeline(manager, placement);
    if (last >= 3)
      buildKernelPipeline(manager);
  };
  auto buildPlan = [&](OpPassManager &manager) {
    if (last >= 4)
      buildSchedulePipeline(manager, options.machine);
    if (last >= 5)
      buildPlanPipeline(manager, {functionName(), options.memoryBudget});
  };
  // From there on kernels stay as they are.
  const bool isDone = succeeded(runPasses(scope, buildKernels)) && (last < 5 || succeeded(startKernels())) &&
                      succeeded(runPasses(scope, buildPlan)) && succeeded(verify(*module));
  return isDone ? 0 : kUnsupported;
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
  if (auto model = llvm::MemoryBuffer::getFile(options.modelPath, false, false)) {
    // Fast, as weights may be gigabytes.
    const llvm::XXH128_hash_t digest = llvm::xxh3_128bits(llvm::arrayRefFromStringRef((*model)->getBuffer()));
    hash.update(std::to_string(digest.low64) + " " + std::to_string(digest.high64));
  }
  hash.update(configText);
  for (const auto &list : {options.axes, options.layouts, options.dims})
    for (const std::string &text : list)
      hash.update(text);
  hash.update(std::to_string(options.zeroStage) + options.cpu + options.machine +
              (options.isInference ? "infer" : "train"));
  return llvm::toHex(hash.final(), true);
}

int Compilation::writePlan() {
  TimingScope scope = timing.nest("plan");
  ScopedDiagnosticHandler warnings(&context, [&](Diagnostic &diagnostic) { // MLIR prints errors alone
    if (diagnostic.getSeverity() != DiagnosticSeverity::Warning)
      return failure();
    (options.isQuiet ? llvm::nulls() : llvm::errs()) << "warning: " << diagnostic << "\n";
    return success();
  });
  EmitOptions emit;
  emit.function = functionName();
  emit.config = configText;
  TimingScope part = scope.nest("fingerprint");
  emit.fingerprint = fingerprint();
  part.stop();
  FailureOr<std::unique_ptr<plan::PlanT>> plan = emitPlan(*module, *kernels, emit, scope.nest("emit"));
  if (failed(plan))
    return kUnsupported;
  part = scope.nest("save");
  if (int code = report(plan::savePlan(**plan, options.outputPath)))
    return code;
  part.stop();
  if (options.printRemarks)
    llvm::errs() << plan::describeMemory(**plan);
  if (options.isQuiet)
    return 0;
  const plan::PeakReportT &peak = *(*plan)->peaks.front();
  llvm::errs() << "compiled: " << peak.peak_bytes << " bytes of memory per rank (at least " << peak.lower_bound_bytes
               << " are needed), " << (*plan)->kernels.size() << " kernels\n";
  return 0;
}

} // namespace

int ds::compile(const CompileOptions &options) {
  Compilation compilation(options);
  const int code = compilation.run();
  // The process ends: to erase one op after the other takes as long as a pass.
  [[maybe_unused]] static const ModuleOp kept = compilation.takeModule().release();
  return code;
}
