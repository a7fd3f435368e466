// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The command line of ds-run. `ds-run --help` is its manual.

#include "ExitCodes.h"
#include "OutOfMemory.h"
#include "PreparedRun.h"
#include "Worker.h"

#include "ds/Config/NearestWord.h"
#include "ds/Plan/Plan.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace ds;

static constexpr const char *kExamples = R"(
Examples, and more of them at `ds-run COMMAND --help`:
  ds-run train train.onnx --config ds_config.json --ranks 2 --data data/ --steps 100
  ds-run infer forward.onnx --data data/ --output outputs/
  ds-run inspect train.dsplan
  ds-run check-config ds_config.json --ranks 4

Exit codes: 0 ok, 2 bad input, 3 not supported, 4 a rank was lost, 5 timeout, 6 storage,
7 numbers that are not finite, 8 integrity, 9 a defect of ds-mlir, 130 interrupted.)";

static constexpr const char *kTrainExamples = R"(
Examples:
  Train an ONNX model on two CPU ranks, with the recipe of a DeepSpeed-style file:
    ds-run train train.onnx --config ds_config.json --ranks 2 --data data/ --steps 100

  The same, logging each step and keeping the weights:
    ds-run train train.onnx --config ds_config.json --ranks 2 --data data/ --steps 100 \
        --log run.jsonl --save-model out.safetensors

  Compile once, run the plan as often as you like:
    ds-compile train.onnx --config ds_config.json --ranks 4 -o train.dsplan
    ds-run train train.dsplan --data tokens.bin --steps 1000
)";

static constexpr const char *kInferExamples = R"(
Examples:
  The outputs of a model for all of the data, one file each:
    ds-run infer forward.onnx --data data/ --output outputs/

  The same with trained weights:
    ds-run infer forward.onnx --data data/ --output outputs/ --load-model out.safetensors
)";

static constexpr const char *kRunFooter = R"(
Data is a folder with one NAME.npy for each input of the graph, [step, sample, ...], or a raw file of
uint16 or uint32 token numbers, from which input_ids and labels (shifted by one) are cut.

Arguments after -- are passed on to ds-compile.)";

static constexpr const char *kInspectExamples = R"(
Examples:
  ds-run inspect train.dsplan
  ds-run inspect train.dsplan --json | jq .arenas)";

static constexpr const char *kCheckConfigExamples = R"(
Examples:
  ds-run check-config ds_config.json --ranks 4
  ds-run check-config ds_config.json --print)";

static constexpr const char *kBenchMachineExamples = R"(
Examples:
  Measure this machine, and have times predicted by what was found:
    ds-run bench machine -o machine.json
    ds-compile train.onnx --config ds_config.json --machine machine.json -o train.dsplan

ds-compile does so by itself, once, and keeps the result; measure again when other programs were busy.)";

static void addRunOptions(CLI::App &command, RunOptions &options, const std::string &examples) {
  command.add_option("program", options.program, "A plan (ds-compile -o) or a model (.onnx), which is compiled first")
      ->required();
  command.add_option("--config", options.config, "The ds_config.json; default: the one in the plan");
  command.add_option("--data", options.data, "Folder of .npy files, or a file of token numbers");
  command.add_option("--token-type", options.tokenType, "Type of the token file; default: by its name, uint16")
      ->check(CLI::IsMember({"uint16", "uint32"}));
  command.add_option("--ranks", options.ranks, "Processes to run on; default: the plan's number, 1 for a model")
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--steps", options.steps,
                  "Steps to run; the data begin again when they end; default: once through the data")
      ->check(CLI::Range(int64_t(1), INT64_MAX));
  command.add_option("--load-model", options.loadModel, "Take the weights from this .safetensors file, by name");
  command.add_option("--model-folder", options.modelFolder,
                     "Where the model file of a plan is; default: beside the plan");
  command.add_option("--plan-out", options.planOut, "Keep the compiled plan here; default: in the cache");
  command.add_option("--threads", options.threads, "Threads per rank; default: cores / ranks")
      ->check(CLI::Range(1, 4096));
  command
      .add_option("--bind", options.binding, "Give each rank cores of its own: auto (if there are enough), cores, none")
      ->check(CLI::IsMember({"auto", "cores", "none"}));
  command
      .add_option("--timeout", options.timeoutSeconds,
                  "Seconds until a rank that does not get on ends the job; 0: never; default: 120")
      ->check(CLI::Range(0.0, 1e9));
  command.add_option("--report", options.report, "Write memory and speed of the run to this file, as JSON");
  command.add_flag("-q,--quiet", options.isQuiet, "Print errors only");
  command.allow_extras();
  command.footer(examples + kRunFooter);
}

static void addBenchMachine(CLI::App &bench, BenchMachineOptions &options) {
  bench.require_subcommand(1);
  CLI::App *command = bench.add_subcommand(
      "machine", "Measure the speeds from which times are predicted, in a few seconds, and write a machine file");
  command->footer(kBenchMachineExamples);
  command->add_option("-o,--output", options.output, "The machine file")->required();
  command->add_flag("-q,--quiet", options.isQuiet, "Print errors only");
}

/// What stood after `--`; anything else that was left over is a mistake.
static std::vector<std::string> compilerFlags(const CLI::App &command, const std::vector<std::string> &afterDashes) {
  const std::vector<std::string> extras = command.remaining();
  if (!extras.empty())
    throw CLI::ExtrasError(extras);
  return afterDashes;
}

/// What is wrong with the first word, which must be a command.
static std::optional<std::string> findCommandFault(const CLI::App &app, const std::vector<std::string> &arguments) {
  if (arguments.empty() || arguments[0].empty() || arguments[0][0] == '-')
    return std::nullopt; // the parser says it
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end())
    return std::nullopt;
  const std::string nearest = config::nearestWord(arguments[0], names);
  return absl::StrCat("no command is called '", arguments[0], "'",
                      nearest.empty() ? "" : absl::StrCat(", did you mean '", nearest, "'?"), "; there are ",
                      absl::StrJoin(names, ", "));
}

static int runCommandLine(std::vector<std::string> arguments) {
  std::vector<std::string> afterDashes;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    afterDashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }

  CLI::App app("Runs plans: trains and infers on the processes of this machine.", "ds-run");
  app.set_version_flag("--version", "ds-run, plan version " + std::to_string(plan::kPlanVersion));
  app.footer(kExamples);
  app.require_subcommand(1);

  TrainOptions train;
  CLI::App *trainCommand = app.add_subcommand("train", "Train a model");
  addRunOptions(*trainCommand, train, kTrainExamples);
  trainCommand->add_option("--log", train.log, "Write one JSON record per step to this file");
  trainCommand->add_option("--save-model", train.saveModel,
                           "Write the trained weights, full tensors, to this .safetensors file");
  trainCommand->add_option("--profile", train.profile,
                           "Write when each instruction of rank 0's last step ran, for Perfetto or chrome://tracing");
  trainCommand->add_option("--dump-variables", train.dumps,
                           "Write the variables of a role at the end: ROLE=FILE.safetensors");
  trainCommand->add_flag("--find-nan", train.findsNan,
                         "Look at the results of each op, and end at the first step whose loss or gradient norm is NaN "
                         "or infinite with the name of the op where it comes from");
  trainCommand
      ->add_option("--print-every", train.stepsPerPrint,
                   "Print every this many steps; default: the config's steps_per_print")
      ->check(CLI::Range(int64_t(1), INT64_MAX));

  InferOptions infer;
  CLI::App *inferCommand = app.add_subcommand("infer", "Run a forward plan or model and write its outputs");
  addRunOptions(*inferCommand, infer, kInferExamples);
  inferCommand->add_option("--output", infer.output, "Folder for one NAME.npy per output, [step, ...]")->required();

  InspectOptions inspect;
  CLI::App *inspectCommand = app.add_subcommand("inspect", "Print what a plan holds: memory, schedule, variables");
  inspectCommand->footer(kInspectExamples);
  inspectCommand->add_option("plan", inspect.plan, "The plan")->required();
  inspectCommand->add_flag("--json", inspect.asJson, "For programs; only what is in the plan");
  inspectCommand
      ->add_option("--threads", inspect.threads,
                   "Threads per rank of the run whose memory is told; default: cores / ranks")
      ->check(CLI::Range(1, 1 << 16));

  CheckConfigOptions check;
  CLI::App *checkCommand = app.add_subcommand("check-config", "Read a ds_config.json and say what it means");
  checkCommand->footer(kCheckConfigExamples);
  checkCommand->add_option("config", check.config, "The file")->required();
  checkCommand->add_option("--ranks", check.ranks, "Ranks that the batch is spread over; default: 1")
      ->check(CLI::Range(1, 1 << 20));
  checkCommand->add_flag("--print", check.printsAll, "Print all settings with their defaults");

  BenchMachineOptions benchMachine;
  CLI::App *benchCommand = app.add_subcommand("bench", "Measure");
  addBenchMachine(*benchCommand, benchMachine);

  if (const std::optional<std::string> fault = findCommandFault(app, arguments))
    return reportError(absl::InvalidArgumentError(*fault));
  try { // CLI11 reports by exceptions only; they end here
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
    if (*trainCommand)
      train.compilerFlags = compilerFlags(*trainCommand, afterDashes);
    if (*inferCommand)
      infer.compilerFlags = compilerFlags(*inferCommand, afterDashes);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kExitOk : kExitBadInput;
  }
  if (*trainCommand)
    return runTrain(train);
  if (*inferCommand)
    return runInfer(infer);
  if (*benchCommand)
    return runBenchMachine(benchMachine);
  return *inspectCommand ? runInspect(inspect) : runCheckConfig(check);
}

/// Threads of OpenMP wait as those of ranks that have cores of their own. Its library reads that when the program is
/// loaded, so the program is loaded anew.
static void waitActively(char **argv) {
  if (!std::getenv("OMP_WAIT_POLICY") && ::setenv("OMP_WAIT_POLICY", "active", 0) == 0)
    ::execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
  if (argc == 4 && std::strcmp(argv[1], kWorkerFlag) == 0)
    return runWorker(std::atoll(argv[2]), std::atoi(argv[3]));
  if (argc > 1 && std::strcmp(argv[1], "bench") == 0)
    waitActively(argv);
  endWhenOutOfMemory(STDERR_FILENO, "ds-run: error: the system gives no more memory or threads; see ulimit -v, -u\n");
  return runCommandLine(std::vector<std::string>(argv + 1, argv + argc));
}
