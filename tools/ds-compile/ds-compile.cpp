// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The command line of the compiler: model and config to plan. `ds-compile --help` is its manual.

#include "ByteSize.h"
#include "CachePath.h"
#include "DefectGuard.h"
#include "ExitCodes.h"
#include "OutOfMemory.h"
#include "RunCompiler.h"
#include "ThisMachine.h"

#include "ds/Config/EscapeControls.h"
#include "ds/Files/Outputs.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <new>
#include <unistd.h>

using namespace ds;

namespace cl = llvm::cl;

static cl::OptionCategory category("ds-compile options");
static cl::opt<std::string> modelPath(cl::Positional, cl::desc("<model.onnx>"), cl::cat(category));
static cl::opt<std::string> configPath("config", cl::desc("the training recipe, a ds_config.json"),
                                       cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    outputPath("o", cl::desc("where the plan, or the program of --emit, goes; default: standard output for programs"),
               cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    emit("emit",
         cl::desc("stop after a stage and print the program: import, program, placement, kernels, schedule; plan "
                  "(default) writes the plan"),
         cl::init("plan"), cl::value_desc("stage"), cl::cat(category));
static cl::opt<int64_t> ranks("ranks", cl::desc("data-parallel ranks; default 1"), cl::init(1), cl::value_desc("n"),
                              cl::cat(category));
static cl::list<std::string> mesh("mesh", cl::CommaSeparated,
                                  cl::desc("all axes of the mesh instead of --ranks, first axis major: dp=2,tp=2"),
                                  cl::value_desc("axis=size"), cl::cat(category));
static cl::list<std::string>
    layouts("layout", cl::desc("the layout of a parameter: 'h.0.attn.c_attn.weight=[{}, (3)(4{tp})(16)]'"),
            cl::value_desc("name=layout"), cl::cat(category));
static cl::list<std::string>
    dims("dim", cl::desc("the size of a symbolic dim: sequence=32; batch is computed from the config"),
         cl::value_desc("name=size"), cl::cat(category));
static cl::list<std::string>
    inputShapes("input-shape",
                cl::desc("the shape of an input, for symbolic dims that nothing else gives: input_ids=8x32"),
                cl::value_desc("name=shape"), cl::cat(category));
static cl::opt<std::string>
    data("data", cl::desc("fail at once unless these data fit the model; as --data of ds-run, empty: there are none"),
         cl::value_desc("path"), cl::cat(category));
static cl::opt<std::string> tokenType("token-type", cl::desc("type of a token file of --data: uint16, uint32"),
                                      cl::value_desc("type"), cl::cat(category));
static cl::opt<int64_t> stage("zero-stage", cl::desc("ZeRO stage 0 to 3 instead of the config's"), cl::init(-1),
                              cl::value_desc("n"), cl::cat(category));
static cl::opt<bool> infer("infer", cl::desc("compile the forward function alone"), cl::cat(category));
static cl::opt<std::string> budget("memory-budget",
                                   cl::desc("fail if a rank's arena takes more than this: bytes, or 512MiB, 16G, 16GB"),
                                   cl::value_desc("size"), cl::cat(category));
static cl::opt<std::string> cpu("cpu", cl::desc("the CPU to make code for, by LLVM's name; default: this one"),
                                cl::init("native"), cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string> machine(
    "machine",
    cl::desc("what predicted times are computed from: a machine file of `ds-run bench machine`, or the preset cpu; "
             "default: $DS_MACHINE, else this machine, measured once"),
    cl::value_desc("name|file"), cl::cat(category));
static cl::opt<std::string> kernelCache("kernel-cache",
                                        cl::desc("where compiled kernels are kept, or none; default: "
                                                 "$XDG_CACHE_HOME/ds-mlir/kernels or ~/.cache/ds-mlir/kernels"),
                                        cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string> planCache("plan-cache",
                                      cl::desc("a folder in which plans are kept by all that they are made from, and "
                                               "found again; default: none"),
                                      cl::value_desc("folder"), cl::cat(category));
static cl::opt<bool> machineProbe("machine-probe",
                                  cl::desc("compile what `ds-run bench machine` measures, instead of a model"),
                                  cl::ReallyHidden, cl::cat(category));
static cl::opt<bool> quiet("quiet", cl::desc("print errors only"), cl::cat(category));
static cl::opt<bool> timing("timing", cl::desc("print how long each pass took"), cl::cat(category));
static cl::opt<bool> explain("explain", cl::desc("print the passes' remarks: what was decided, and why"),
                             cl::cat(category));
static cl::opt<bool>
    checkEachPass("check-each-pass",
                  cl::desc("interpret the program before and after each pass and stop at the first that "
                           "changes a value (slow)"),
                  cl::cat(category));
static cl::opt<double> checkTolerance("check-tolerance", cl::init(1e-12),
                                      cl::desc("for --check-each-pass: largest change, relative to a tensor's "
                                               "largest entry; of passes that write f32 constants 1e-6 at least"),
                                      cl::cat(category));

/// The folder that --kernel-cache names; empty: none.
static std::string kernelCacheFolder() {
  if (kernelCache.getNumOccurrences() > 0)
    return kernelCache == "none" ? "" : kernelCache.getValue();
  return cachePath("kernels");
}

/// What times are predicted for; before the schedule, where none are, nothing is measured for it.
static std::string machineName(Stage stage) {
  const auto say = [](const std::string &line) {
    if (!quiet)
      llvm::errs() << line << "\n";
  };
  if (!machine.empty())
    return machine;
  return stage >= Stage::Schedule ? defaultMachine(cpu, say) : "cpu";
}

//===----------------------------------------------------------------------===//
// From flags to options
//===----------------------------------------------------------------------===//

/// What is wrong with a flag, as an exit code.
static int refuse(const llvm::Twine &text) {
  llvm::errs() << "error: " << escapeControls(text.str()) << "\n";
  return kExitBadInput;
}

static int readFlags(CompileOptions &options, ToolOptions &tool) {
  const std::optional<Stage> last = findStage(emit);
  if (!last)
    return refuse("--emit must be " + stageNames() + ", got '" + emit + "'");
  const std::optional<uint64_t> bytes = budget.empty() ? 0 : findByteSize(budget);
  if (!bytes)
    return refuse("--memory-budget must be a number of bytes, or one with a unit such as 512MiB, 16G or 16GB, got '" +
                  budget + "'");
  if (modelPath.empty() && !machineProbe)
    return refuse("a model must be given: ds-compile train.onnx --config ds_config.json -o train.dsplan");
  options.modelPath = modelPath;
  options.isMachineProbe = machineProbe;
  options.configPath = configPath;
  options.stage = *last;
  options.axes.assign(mesh.begin(), mesh.end());
  if (options.axes.empty())
    options.axes.push_back("dp=" + std::to_string(ranks));
  options.layouts.assign(layouts.begin(), layouts.end());
  options.dims.assign(dims.begin(), dims.end());
  options.inputShapes.assign(inputShapes.begin(), inputShapes.end());
  if (data.getNumOccurrences() > 0)
    options.data = data;
  options.tokenType = tokenType;
  options.zeroStage = stage;
  options.isInference = infer;
  options.memoryBudget = *bytes;
  options.cpu = cpu;
  options.machine = machineName(options.stage);
  options.kernelCache = kernelCacheFolder();
  options.explains = explain;
  options.checkEachPass = checkEachPass;
  options.checkTolerance = checkTolerance;
  tool.output = outputPath;
  tool.planCache = planCache;
  tool.isQuiet = quiet;
  tool.printsTiming = timing;
  return kExitOk;
}

#ifdef DS_INCLUDE_TESTS
namespace ds::test {
void registerTestPasses();
} // namespace ds::test

static cl::opt<std::string> testPass("test-pass", cl::desc("a pass that runs after the last one; for tests"),
                                     cl::value_desc("pipeline"), cl::ReallyHidden, cl::cat(category));

/// Adds a pass with a planted fault.
static void addTestPass(ToolOptions &tool) {
  ds::test::registerTestPasses();
  if (!testPass.empty())
    tool.addPasses = [](mlir::OpPassManager &manager) { return mlir::parsePassPipeline(testPass, manager); };
}
#else
static void addTestPass(ToolOptions &) {}
#endif

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

static std::string version() {
  return "ds-compile, plan version " + std::to_string(plan::kPlanVersion) + ", LLVM " LLVM_VERSION_STRING;
}

static std::string commandLine(int argc, char **argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool isPlain =
        !word.empty() && llvm::StringRef(word).find_first_of(" '\"\\$`*?[]{}()<>|&;#~\n") == llvm::StringRef::npos;
    text += (i == 0 ? "" : " ") + (isPlain ? word : "'" + word + "'");
  }
  return text;
}

/// Beside the result, or in the current folder if that is no file.
static std::string reportPath(const std::string &output) {
  const bool isFile = !output.empty() && output != "-" && !isStream(output);
  return (isFile ? output : "ds-compile") + ".defect.mlir";
}

/// Ends the process with a message where the system gives too little: that is no defect.
static void endWhenSystemGivesNoMore() {
  endWhenOutOfMemory(STDERR_FILENO, "error: the system gives no more memory or threads; see ulimit -v, -u\n");
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { std::get_new_handler()(); });
  // LLVM's threads do not throw. Whatever else it cannot go on with is a defect, and ends as without a handler.
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    if (llvm::StringRef(reason).contains("pthread_create"))
      std::get_new_handler()();
    llvm::errs() << "LLVM ERROR: " << reason << "\n";
  });
}

int main(int argc, char **argv) {
  const std::string command = commandLine(argc, argv);
  endWhenSystemGivesNoMore();
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << version() << "\n"; });
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "compiles a model for training on many ranks\n\n"
          "  ds-compile train.onnx --config ds_config.json --ranks 4 --dim sequence=32 -o train.dsplan\n"
          "  ds-compile train.onnx --config ds_config.json --emit=placement\n",
          &llvm::errs()))
    return kExitBadInput;
  CompileOptions options;
  ToolOptions tool;
  if (int code = readFlags(options, tool))
    return code;
  addTestPass(tool);
  return runGuarded([&] { return runCompiler(options, tool); },
                    [&](const File &reproducer) { return repeatDefect(options, tool, reproducer); },
                    {reportPath(tool.output), version(), command});
}
