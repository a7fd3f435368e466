// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PreparedRun.h"

#include "CompileModel.h"
#include "LabelChecks.h"

#include "ds/Files/Folder.h"
#include "ds/Plan/Check.h"
#include "ds/Runtime/Device/AvailableMemory.h"
#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace fs = std::filesystem;

namespace ds {

void noteDefaultClipping(const TrainingConfig &config) {
  if (config.isClippingDefault && config.optimizer.kind != OptimizerKind::None)
    printMessage(
        "note: \"gradient_clipping\" is not in the config, so gradients are clipped to a norm of 1.0, as since "
        "DeepSpeed 0.19.3; DeepSpeed before that did not clip: write 0 for that, or 1.0 to keep this");
}

int reportError(const absl::Status &status) {
  printMessage(absl::StrCat("error: ", status.message()));
  const ExitCode code = exitCodeOf(status.code());
  if (code == kExitDefect)
    printMessage("note: this is a defect of ds-mlir, not of your input. Please open an issue with the project, and "
                 "attach the plan and the command line");
  return code;
}

static std::string folderOf(const std::string &path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// How many folders deep the names of inputs go in a folder of data, which may have much else in it.
static constexpr int kMostNameFolders = 4;

/// Tells the compiler the shapes of the data, one step of each `NAME.npy`, for symbolic dims that nothing else gives.
static void addDataShapes(const std::string &data, std::vector<std::string> &flags) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator it(data, error), end; !error && it != end; it.increment(error)) {
    if (it.depth() == kMostNameFolders)
      it.disable_recursion_pending();
    const fs::directory_entry &entry = *it;
    if (entry.path().extension() != ".npy")
      continue;
    const std::string name = entry.path().lexically_relative(data).replace_extension().string();
    const absl::StatusOr<File> file = File::open(entry.path().string());
    const auto tensor = file.ok() ? runtime::readNumpyHeader(*file) : file.status();
    if (tensor.ok() && tensor->shape.size() > 1)
      found.push_back(absl::StrCat("--input-shape=", name, "=",
                                   absl::StrJoin(tensor->shape.begin() + 1, tensor->shape.end(), "x")));
  }
  std::sort(found.begin(), found.end());
  flags.insert(flags.end(), found.begin(), found.end());
}

/// The plan: the program itself, or what the compiler makes of it.
static absl::StatusOr<CompileResult> resolvePlan(const RunOptions &options) {
  std::error_code error;
  if (!fs::exists(options.program, error))
    return absl::InvalidArgumentError(absl::StrCat(options.program, ": no such plan or model"));
  if (isPlanFile(options.program)) {
    if (!options.planOut.empty() || !options.compilerFlags.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(options.program, ": is a plan already, so --plan-out and compiler flags have no meaning"));
    CompileResult result;
    DS_ASSIGN_OR_RETURN(result.plan, File::open(options.program));
    return result;
  }
  if (absl::EndsWith(options.program, ".dsplan"))
    return absl::InvalidArgumentError(absl::StrCat("invalid plan: ", options.program, " does not begin like a plan"));
  if (!options.data.empty() && !fs::exists(options.data, error))
    return absl::InvalidArgumentError(absl::StrCat(options.data, ": no such data folder or token file"));
  CompileRequest request;
  request.model = options.program;
  request.config = options.config;
  request.ranks = std::max<int64_t>(1, options.ranks);
  request.flags = options.compilerFlags;
  addDataShapes(options.data, request.flags);
  request.isQuiet = options.isQuiet;
  request.planOut = options.planOut;
  request.data = options.data;
  request.tokenType = options.tokenType;
  return compileModel(request);
}

static absl::Status loadCheckedPlan(int64_t ranks, PreparedRun &run) {
  const std::string &path = run.planFile.path();
  DS_ASSIGN_OR_RETURN(run.plan, plan::loadPlan(run.planFile));
  if (const absl::Status status = plan::check(*run.plan); !status.ok())
    return absl::Status(status.code(), absl::StrCat(status.message(), " (", path, ")"));
  const int64_t planned = plan::meshOf(*run.plan).numRanks();
  if (ranks != 0 && ranks != planned)
    return absl::InvalidArgumentError(absl::StrCat(path, ": is a plan for ", planned, " ranks, got --ranks ", ranks));
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// The job
//===----------------------------------------------------------------------===//

static bool hasInput(const plan::PlanT &plan, const std::string &name) {
  return std::any_of(plan.inputs.begin(), plan.inputs.end(), [&](const auto &port) { return port->name == name; });
}

/// A plan holds the config it was made with. A file that asks for anything else in what the plan has fixed must not be
/// taken for its learning rate alone.
static absl::Status checkPlannedKeys(const RunOptions &options, const PreparedRun &run) {
  if (options.config.empty() || run.plan->config.empty() || !hasInput(*run.plan, runtime::kLearningRateInput))
    return absl::OkStatus();
  DS_ASSIGN_OR_RETURN(const TrainingConfig planned, parseTrainingConfig(run.plan->config, "the plan's ds_config.json"));
  const Mesh mesh = plan::meshOf(*run.plan);
  absl::StatusOr<std::vector<PlannedDifference>> differences =
      plannedDifferences(planned, *run.config, mesh.findAxis("dp") ? mesh.axisSize("dp") : 1);
  if (!differences.ok())
    return absl::Status(differences.status().code(),
                        absl::StrCat(options.config, ": ", differences.status().message()));
  if (differences->empty())
    return absl::OkStatus();
  std::vector<std::string> lines;
  for (const PlannedDifference &difference : *differences)
    lines.push_back(absl::StrCat(options.config, ": \"", difference.key, "\" must be ", difference.planned,
                                 " as in the plan, got ", difference.given));
  return absl::InvalidArgumentError(absl::StrCat(absl::StrJoin(lines, "\n"),
                                                 "; a plan fixes all but the learning rate, its schedule and what is "
                                                 "printed: compile a plan with this file to have the rest"));
}

static absl::Status readConfig(const RunOptions &options, PreparedRun &run) {
  run.job.config = run.plan->config;
  run.job.configName = "the plan's ds_config.json";
  if (!options.config.empty()) {
    DS_ASSIGN_OR_RETURN(run.job.config, readWholeFile(options.config, kMaxConfigBytes));
    run.job.configName = options.config;
  }
  if (run.job.config.empty() && hasInput(*run.plan, runtime::kLearningRateInput))
    return absl::InvalidArgumentError("--config must be given: the plan has a learning rate and no ds_config.json");
  if (run.job.config.empty())
    return absl::OkStatus();
  DS_ASSIGN_OR_RETURN(run.config, parseTrainingConfig(run.job.config, run.job.configName));
  return checkPlannedKeys(options, run);
}

static bool needsData(const plan::PlanT &plan) {
  return std::any_of(plan.inputs.begin(), plan.inputs.end(),
                     [](const auto &port) { return port->name != runtime::kLearningRateInput; });
}

/// Opens the data once here, so that mistakes are said once and before any rank starts.
static absl::Status checkData(const RunOptions &options, PreparedRun &run) {
  run.job.steps = options.steps;
  if (!needsData(*run.plan)) {
    run.job.steps = std::max<int64_t>(1, options.steps);
    return absl::OkStatus();
  }
  if (options.data.empty())
    return absl::InvalidArgumentError("--data must be given: the plan has inputs");
  std::optional<runtime::ElementType> type;
  if (!options.tokenType.empty())
    type = options.tokenType == "uint32" ? runtime::ElementType::U32 : runtime::ElementType::U16;
  DS_ASSIGN_OR_RETURN(const auto data, runtime::openData(*run.plan, options.data, type));
  if (run.config && hasInput(*run.plan, runtime::kLearningRateInput))
    DS_RETURN_IF_ERROR(checkShift(run.config->model.loss, *run.plan, options.data));
  if (run.job.steps == 0)
    run.job.steps = data->steps();
  return absl::OkStatus();
}

int threadsPerRank(int asked, int64_t ranks) {
  return asked > 0 ? asked : static_cast<int>(std::max<int64_t>(1, allowedCores().size() / ranks));
}

/// Threads per rank, and cores for each rank if there are enough that no other job has.
static absl::Status shareCores(const RunOptions &options, PreparedRun &run) {
  const int64_t ranks = plan::meshOf(*run.plan).numRanks();
  const std::vector<int> cores = allowedCores();
  const int64_t available = std::max<int64_t>(1, cores.size());
  run.job.threads = threadsPerRank(options.threads, ranks);
  const int64_t wanted = run.job.threads * ranks;
  if (options.binding == "cores" && wanted > available)
    return absl::InvalidArgumentError(absl::StrCat("--bind cores needs ", run.job.threads, " cores for each of ", ranks,
                                                   " ranks, got ", available, " cores"));
  if (options.binding == "none" || wanted > available || ranks == 1)
    return absl::OkStatus();
  run.cores = CoreClaims::take(cores, static_cast<size_t>(wanted));
  run.job.cores = run.cores.cores();
  if (!run.job.cores.empty())
    return absl::OkStatus();
  const std::string free =
      absl::StrCat(wanted, " cores, and of ", available, " other jobs of ds-run have bound ", run.cores.busy());
  if (options.binding == "cores")
    return absl::InvalidArgumentError(absl::StrCat("--bind cores needs ", free));
  if (!options.isQuiet)
    printMessage(absl::StrCat("ranks are not bound to cores: they need ", free));
  return absl::OkStatus();
}

/// All arenas together, before any rank takes its own: each alone may fit where they do not fit together.
static absl::Status checkMemory(const plan::PlanT &plan) {
  const int64_t ranks = plan::meshOf(plan).numRanks();
  int64_t bytes = 0;
  if (__builtin_mul_overflow(runtime::plannedArenaBytes(plan), ranks, &bytes))
    bytes = INT64_MAX;
  return runtime::checkAvailable(bytes, ranks == 1 ? "the arena"
                                                   : absl::StrCat("the memory of ", ranks, " ranks, an arena each,"));
}

static std::string modelFolderOf(const RunOptions &options) {
  return options.modelFolder.empty() ? folderOf(options.program) : options.modelFolder;
}

absl::Status checkRunOutputs(const RunOptions &options, const plan::PlanT *plan, const std::vector<Output> &outputs) {
  std::vector<std::string> inputs = {options.program, options.config, options.data};
  if (plan)
    for (const auto &file : plan->model_files)
      inputs.push_back((fs::path(modelFolderOf(options)) / file->path).string());
  DS_RETURN_IF_ERROR(checkOutputs(outputs, inputs));
  // Weights may take the place of those that the run begins with, as that happens at its end; the log begins before.
  std::vector<Output> early;
  std::copy_if(outputs.begin(), outputs.end(), std::back_inserter(early),
               [](auto &output) { return output.mayBeStream; });
  return checkOutputs(early, {options.loadModel});
}

absl::StatusOr<PreparedRun> prepareRun(const RunOptions &options, std::vector<Output> outputs) {
  PreparedRun run;
  outputs.push_back({"--report", options.report});
  std::vector<Output> withPlan = outputs;
  withPlan.push_back({"--plan-out", options.planOut});
  DS_RETURN_IF_ERROR(checkRunOutputs(options, nullptr, withPlan)); // before the work whose results go there
  DS_ASSIGN_OR_RETURN(CompileResult compiled, resolvePlan(options));
  run.exitCode = compiled.exitCode;
  if (run.exitCode != 0)
    return run;
  run.planFile = std::move(compiled.plan);
  DS_RETURN_IF_ERROR(loadCheckedPlan(options.ranks, run));
  DS_RETURN_IF_ERROR(checkRunOutputs(options, run.plan.get(), outputs));
  DS_RETURN_IF_ERROR(runtime::checkModelFiles(*run.plan, modelFolderOf(options)));
  DS_RETURN_IF_ERROR(readConfig(options, run));
  DS_RETURN_IF_ERROR(checkData(options, run));
  DS_RETURN_IF_ERROR(checkMemory(*run.plan));
  DS_RETURN_IF_ERROR(shareCores(options, run));
  // Waiting threads of one rank must not spin on the cores of another. A rank alone has nobody to wait for: its threads
  // meet after every kernel, and waking them would take longer than many of these.
  const bool isAlone = plan::meshOf(*run.plan).numRanks() == 1;
  ::setenv("OMP_WAIT_POLICY", isAlone ? "active" : "passive", /*overwrite=*/0);
  run.job.planDescriptor = run.planFile.descriptor();
  run.job.planName = run.planFile.path();
  run.job.fingerprint = run.plan->fingerprint;
  run.job.modelFolder = modelFolderOf(options);
  run.job.dataPath = options.data;
  run.job.tokenType = options.tokenType;
  run.job.loadModel = options.loadModel;
  run.job.timeoutMs = static_cast<int64_t>(options.timeoutSeconds * 1000);
  return run;
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

/// Tokens are counted where the samples are sequences of token numbers.
static int64_t tokensPerStep(const plan::PlanT &plan) {
  for (const auto &port : plan.inputs)
    if (port->name == "input_ids" && port->shape.size() == 2)
      return port->shape[0] * port->shape[1];
  return 0;
}

Progress::Options progressOptions(const PreparedRun &run, const RunOptions &options) {
  Progress::Options progress;
  progress.steps = run.job.steps;
  progress.samplesPerStep = run.plan->samples_per_step;
  progress.tokensPerStep = tokensPerStep(*run.plan);
  progress.isQuiet = options.isQuiet;
  progress.config = run.config;
  progress.skipsBadSteps = run.config && run.config->model.stopAfterBadSteps > 0;
  return progress;
}

absl::Status finishRun(const RunOptions &options, const Progress &progress) {
  progress.printSummary();
  if (options.report.empty())
    return absl::OkStatus();
  return writeWholeFile(options.report, progress.report());
}

int reportJob(const JobResult &result, Progress &progress) {
  progress.endLine();
  if (result.code != kExitOk) {
    printMessage(absl::StrCat("error: ", result.error));
    return result.code;
  }
  if (result.wasKilled || result.wasStopped) {
    printMessage(absl::StrCat("interrupted after ", result.steps, " steps; nothing was saved"));
    return 128 + result.signal;
  }
  return kExitOk;
}

} // namespace ds
