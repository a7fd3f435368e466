// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Driver/Compile.h"

#include "ErrorCollector.h"
#include "InputChecks.h"
#include "LossChecks.h"
#include "MachineProbe.h"
#include "PassRecorder.h"
#include "TrainedTensors.h"

#include "ds/Codegen/Cpu.h"
#include "ds/Codegen/EmitPlan.h"
#include "ds/Config/Machine.h"
#include "ds/Dialect/Names.h"
#include "ds/Interpreter/CheckEachPass.h"
#include "ds/Passes/Passes.h"
#include "ds/Passes/Pipelines.h"
#include "ds/Plan/Inspect.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ds;

static absl::Status invalid(const Twine &text) { return absl::InvalidArgumentError(text.str()); }

namespace {

/// One run of the compiler.
class Compilation {
public:
  Compilation(const CompileInputs &inputs, const CompileOptions &options, const CompileHooks &hooks,
              TimingScope &timing)
      : inputs(inputs), options(options), hooks(hooks), timing(timing), context(MLIRContext::Threading::DISABLED),
        errors(&context, hooks.say) {
    DialectRegistry registry;
    registerProgramDialects(registry);
    registerGradientModels(registry);
    registerInstructionModels(registry);
    context.appendDialectRegistry(registry);
    context.printOpOnDiagnostic(false); // a whole program means nothing to users
  }

  absl::StatusOr<Compiled> run();

private:
  bool reaches(Stage stage) const { return options.stage >= stage; }
  /// Whether there is a training step with a batch that the config tells.
  bool hasBatch() const { return !options.isInference && reaches(Stage::Program); }
  std::string functionName() const { return options.isInference ? "forward" : "step"; }
  absl::Status failureOf(const std::string &work) const { return errors.failureOf(work, failedPass); }
  /// `status` as one of the config's file.
  absl::Status inConfig(const absl::Status &status) const {
    return absl::Status(status.code(), absl::StrCat(options.configPath, ": ", status.message()));
  }

  absl::Status readMesh();
  absl::Status readConfig();
  absl::Status readShapes();
  absl::Status readDims();
  absl::Status import();
  absl::Status chooseTrained(const ImportedModel &imported);
  absl::Status checkTraining();
  absl::Status checkInputs();
  absl::StatusOr<LayoutAttr> parseLayout(VariableOp variable, StringRef text);
  absl::Status addLayouts();
  absl::Status runPasses(StringRef name, llvm::function_ref<LogicalResult(OpPassManager &)> build);
  absl::Status startKernels();
  absl::Status runStages();
  absl::StatusOr<std::unique_ptr<plan::PlanT>> emit();

  const CompileInputs &inputs;
  const CompileOptions &options;
  const CompileHooks &hooks;
  TimingScope &timing;
  MLIRContext context;
  ErrorCollector errors;
  std::string failedPass; ///< its flag
  Mesh mesh;
  TrainingConfig config;
  Batch batch;
  ImportOptions importOptions;
  std::vector<std::string> assumptions; ///< that were told
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<KernelCompiler> kernels;
};

/// Splits NAME=SIZE.
static absl::Status readPair(StringRef flag, StringRef pair, StringRef &name, int64_t &size) {
  StringRef text;
  std::tie(name, text) = pair.split('=');
  if (!name.empty() && !text.getAsInteger(10, size) && size >= 1)
    return absl::OkStatus();
  return invalid("--" + flag + " must be NAME=SIZE with a size >= 1, got '" + pair + "'");
}

absl::Status Compilation::readMesh() {
  constexpr int64_t maxRanks = 1 << 20;
  std::vector<MeshAxis> axes;
  int64_t ranks = 1;
  for (const std::string &axis : inputs.axes) {
    StringRef name;
    int64_t size = 0;
    DS_RETURN_IF_ERROR(readPair("mesh", axis, name, size));
    const bool isNew = llvm::none_of(axes, [&, name = name](const MeshAxis &other) { return other.name == name; });
    if (!isNew || size > maxRanks || (ranks *= size) > maxRanks)
      return invalid("--mesh must have each axis once and at most 1048576 ranks, got '" + llvm::join(inputs.axes, ",") +
                     "'");
    axes.push_back({name.str(), size, {}});
  }
  mesh = Mesh(axes);
  if (inputs.zeroStage < -1 || inputs.zeroStage > 3)
    return invalid("--zero-stage must be 0 to 3, got " + Twine(inputs.zeroStage));
  return absl::OkStatus();
}

absl::Status Compilation::readConfig() {
  if (inputs.config.empty() && options.configPath.empty())
    return hasBatch() ? invalid("--config FILE must be given: the recipe of the training step") : absl::OkStatus();
  DS_ASSIGN_OR_RETURN(config, parseTrainingConfig(inputs.config, options.configPath));
  absl::StatusOr<Batch> resolved = resolveBatch(config, mesh.findAxis("dp") ? mesh.axisSize("dp") : 1);
  if (!resolved.ok())
    return inConfig(resolved.status());
  batch = *resolved;
  return absl::OkStatus();
}

absl::Status Compilation::readShapes() {
  for (const std::string &pair : inputs.inputShapes) {
    auto [name, text] = StringRef(pair).rsplit('=');
    SmallVector<StringRef> sizes;
    text.split(sizes, 'x');
    for (StringRef size : sizes)
      if (name.empty() || size.getAsInteger(10, importOptions.inputShapes[name.str()].emplace_back()))
        return invalid("--input-shape must be NAME=8x32, got '" + Twine(pair) + "'");
  }
  return absl::OkStatus();
}

absl::Status Compilation::readDims() {
  importOptions.dims = config.model.dims;
  importOptions.isTraining = hasBatch();
  if (!inputs.isInference)
    importOptions.stopGradient = config.model.stopGradient;
  if (!options.configPath.empty() && !inputs.isInference)
    importOptions.batch = batch.partSize();
  for (const std::string &pair : inputs.dims) {
    StringRef name;
    int64_t size = 0;
    DS_RETURN_IF_ERROR(readPair("dim", pair, name, size));
    importOptions.dims[name.str()] = size;
  }
  auto bound = importOptions.dims.find("batch");
  if (bound == importOptions.dims.end() || bound->second == batch.partSize() || !hasBatch())
    return absl::OkStatus();
  return invalid("dim 'batch' must be " + Twine(batch.partSize()) + ", \"train_batch_size\" " + Twine(batch.train) +
                 " / \"gradient_accumulation_steps\" " + Twine(batch.accumulation) + " of " + options.configPath +
                 ", got " + Twine(bound->second));
}

absl::Status Compilation::import() {
  TimingScope scope = timing.nest("import");
  if (options.isMachineProbe) {
    module = parseSourceString<ModuleOp>(kMachineProbe, &context);
    return module ? absl::OkStatus() : failureOf("the program that machines are measured with");
  }
  ImportError error;
  importOptions.findRole = findRoleBy(config.model);
  ImportedModel imported = importOnnx(context, options.modelPath, importOptions, error);
  if (options.data)
    DS_RETURN_IF_ERROR(checkOpenInputs(error.openInputs, *options.data));
  if (error.kind != ImportError::Kind::None)
    return absl::Status(error.kind == ImportError::Kind::Malformed ? absl::StatusCode::kInvalidArgument
                                                                   : absl::StatusCode::kUnimplemented,
                        llvm::join(error.messages, "\n"));
  module = std::move(imported.module);
  return module ? chooseTrained(imported) : failureOf("the import of " + options.modelPath);
}

/// Settles which tensors are parameters, and which of these are one, and tells what was assumed.
absl::Status Compilation::chooseTrained(const ImportedModel &imported) {
  StringRef folder = llvm::sys::path::parent_path(options.modelPath);
  if (absl::Status status = checkRoles(config.model, imported.tensors); !status.ok())
    return inConfig(status);
  absl::StatusOr<Ties> ties = tieParameters(*module, config.model, folder.empty() ? "." : folder);
  if (!ties.ok())
    return inConfig(ties.status());
  if (inputs.isInference)
    return absl::OkStatus();
  for (const std::string &text : {warnOfExporter(imported), noteAssumptions(imported, *ties)})
    if (!text.empty()) {
      assumptions.push_back(text);
      hooks.say(text);
    }
  return absl::OkStatus();
}

/// There must be a loss, something to train, and a way to train it: said here, where model and recipe are known.
absl::Status Compilation::checkTraining() {
  if (!hasBatch())
    return absl::OkStatus();
  DS_RETURN_IF_ERROR(
      checkLoss(*module->getOps<func::FuncOp>().begin(), config.model.loss, options.modelPath, options.configPath));
  if (absl::Status status = checkTrainable(*module, config.model); !status.ok())
    return inConfig(status);
  if (!reaches(Stage::Plan) || config.optimizer.kind != OptimizerKind::None)
    return absl::OkStatus();
  return invalid(options.configPath + ": \"optimizer\" must be given to train, like {\"type\": \"AdamW\", \"params\": "
                                      "{\"lr\": 1e-4}}");
}

/// What the config and the data say about inputs must fit the model's.
absl::Status Compilation::checkInputs() {
  auto forward = *module->getOps<func::FuncOp>().begin();
  if (hasBatch())
    if (absl::Status status = checkBatch(forward, batch); !status.ok())
      return inConfig(status);
  if (!options.data)
    return absl::OkStatus();
  // A forward function has neither an attached loss nor parts.
  const LossConfig loss = inputs.isInference ? LossConfig() : config.model.loss;
  return checkData(inputsOfStep(forward, loss, hasBatch() ? batch.accumulation : 1), *options.data, options.tokenType);
}

/// The layout that `text` spells for `variable`.
absl::StatusOr<LayoutAttr> Compilation::parseLayout(VariableOp variable, StringRef text) {
  LayoutAttr layout;
  {
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); }); // the message below says it all
    layout = dyn_cast_or_null<LayoutAttr>(parseAttribute(("#ds.layout<" + text + ">").str(), &context));
  }
  StringRef name = nameOf(variable);
  if (!layout || layout.getLayout().dims.size() != static_cast<size_t>(variable.getTensorType().getRank()))
    return invalid("--layout must be name=[dims] with one entry per dim of " + name + ", got '" + text + "'");
  if (std::optional<std::string> fault = findLayoutFault(layout.getLayout(), shapeOf(variable.getType()), mesh))
    return invalid("--layout of " + name + " " + *fault + ", got '" + text + "'");
  return layout;
}

absl::Status Compilation::addLayouts() {
  SymbolTable symbols(*module);
  for (const std::string &pair : inputs.layouts) {
    auto [name, text] = StringRef(pair).split('=');
    auto variable = symbols.lookup<VariableOp>(symbolFor(name));
    if (!variable)
      return invalid("--layout must name a parameter of the model, got '" + name + "'");
    DS_ASSIGN_OR_RETURN(const LayoutAttr layout, parseLayout(variable, text));
    variable.setLayoutAttr(layout);
  }
  return absl::OkStatus();
}

/// Remarks of all passes, as diagnostics.
static void emitRemarks(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.all = "ds-.*";
  (void)remark::enableOptimizationRemarks(context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                          categories, /*printAsEmitRemarks=*/true);
}

/// Runs the passes that `build` adds, timed under `name`: timers belong to the addresses of passes, which another
/// pass of another run may get.
absl::Status Compilation::runPasses(StringRef name, llvm::function_ref<LogicalResult(OpPassManager &)> build) {
  TimingScope scope = timing.nest(name);
  PassManager manager(&context);
  // Each stage verifies what it promises; the ops themselves are verified once, at the end, as that takes as long as a
  // pass.
  manager.enableVerifier(options.checkEachPass);
  manager.enableTiming(scope);
  manager.addInstrumentation(std::make_unique<PassRecorder>(failedPass, hooks.remember));
  if (failed(build(manager)))
    return invalid("the passes of a test must be known");
  if (options.checkEachPass) {
    CheckEachPassOptions check;
    check.compare.tolerance = options.checkTolerance;
    ds::checkEachPass(manager, check);
  }
  return succeeded(manager.run(*module)) ? absl::OkStatus() : failureOf(("the stages " + name).str());
}

/// Begins to compile the kernels on all cores.
absl::Status Compilation::startKernels() {
  context.enableMultithreading();
  FailureOr<std::unique_ptr<KernelCompiler>> compiler =
      createCpuCompiler(&context, {options.cpu, context.getNumThreads(), options.kernelCache});
  if (failed(compiler))
    return failureOf("the code generator for " + options.cpu);
  kernels = std::move(*compiler);
  if (options.checkEachPass) // which is not for several threads
    return absl::OkStatus();
  const bool isStarted = succeeded(kernels->start(module->lookupSymbol<func::FuncOp>(functionName()), meshOf(*module)));
  return isStarted ? absl::OkStatus() : failureOf("the code generator");
}

/// The stages up to the one that is asked for.
absl::Status Compilation::runStages() {
  if (options.explains)
    emitRemarks(context);
  PlacementOptions placement;
  placement.axes = inputs.axes;
  placement.zeroStage = inputs.isInference ? 0 : inputs.zeroStage >= 0 ? inputs.zeroStage : config.zero.stage;
  DS_RETURN_IF_ERROR(runPasses("import to kernels", [&](OpPassManager &manager) {
    buildImportPipeline(manager);
    if (hasBatch())
      buildProgramPipeline(manager, programOptionsFrom(config, batch));
    if (reaches(Stage::Placement))
      buildPlacementPipeline(manager, placement);
    if (reaches(Stage::Kernels))
      buildKernelPipeline(manager);
    return success();
  }));
  // From there on kernels stay as they are.
  if (reaches(Stage::Plan))
    DS_RETURN_IF_ERROR(startKernels());
  DS_RETURN_IF_ERROR(runPasses("schedule and plan", [&](OpPassManager &manager) {
    if (reaches(Stage::Schedule))
      buildSchedulePipeline(manager, options.machine);
    if (reaches(Stage::Plan))
      buildPlanPipeline(manager, {functionName(), inputs.memoryBudget});
    return hooks.addPasses ? hooks.addPasses(manager) : success();
  }));
  return succeeded(verify(*module)) ? absl::OkStatus() : failureOf("the last stage");
}

absl::StatusOr<std::unique_ptr<plan::PlanT>> Compilation::emit() {
  TimingScope scope = timing.nest("plan");
  if (hooks.remember)
    hooks.remember(reproducerOf(*module, ""));
  EmitOptions emit;
  emit.function = functionName();
  emit.config = inputs.config;
  emit.key = inputs.key();
  for (const CompileInputs::ModelFile &file : inputs.files) {
    plan::ModelFileT &known = emit.modelFiles.emplace_back();
    known.path = file.path;
    known.bytes = static_cast<uint64_t>(file.bytes);
    known.hash = file.hash;
  }
  FailureOr<std::unique_ptr<plan::PlanT>> plan = emitPlan(*module, *kernels, emit, scope.nest("emit"));
  if (failed(plan))
    return failureOf("the emission of the plan");
  (*plan)->notes = assumptions;
  return std::move(*plan);
}

absl::StatusOr<Compiled> Compilation::run() {
  for (auto step : {&Compilation::readMesh, &Compilation::readConfig, &Compilation::readShapes, &Compilation::readDims,
                    &Compilation::import, &Compilation::checkTraining, &Compilation::checkInputs,
                    &Compilation::addLayouts, &Compilation::runStages})
    DS_RETURN_IF_ERROR((this->*step)());
  Compiled result;
  if (reaches(Stage::Plan)) {
    DS_ASSIGN_OR_RETURN(result.plan, emit());
    if (options.explains)
      hooks.say(plan::describeMemory(*result.plan));
  } else {
    llvm::raw_string_ostream out(result.program);
    module->print(out);
    out << "\n";
  }
  return result;
}

} // namespace

absl::StatusOr<Compiled> ds::compile(const CompileInputs &inputs, const CompileOptions &options,
                                     const CompileHooks &hooks, TimingScope &timing) {
  const auto compilation = std::make_shared<Compilation>(inputs, options, hooks, timing);
  absl::StatusOr<Compiled> result = compilation->run();
  if (result.ok())
    result->workspace = compilation;
  return result;
}
