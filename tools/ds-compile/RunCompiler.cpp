// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "RunCompiler.h"

#include "ExitCodes.h"

#include "ds/Config/EscapeControls.h"
#include "ds/Driver/PlanCache.h"
#include "ds/Files/Outputs.h"
#include "ds/Runtime/StatusMacros.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace mlir;
using namespace ds;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Prints each line of the message, and returns the exit code.
static int report(const absl::Status &status) {
  const std::string message(status.message());
  for (llvm::StringRef rest = message; !rest.empty();) {
    auto [line, more] = rest.split('\n');
    llvm::errs() << (line.starts_with("note: ") ? "" : "error: ") << escapeControls(line) << "\n";
    rest = more;
  }
  return exitCodeOf(status.code());
}

static CompileHooks hooksOf(const ToolOptions &tool) {
  CompileHooks hooks;
  hooks.say = [isQuiet = tool.isQuiet](const std::string &line) {
    const llvm::StringRef text(line);
    if (!isQuiet || !(text.starts_with("note: ") || text.starts_with("warning: ")))
      llvm::errs() << escapeControls(text) << "\n";
  };
  hooks.addPasses = tool.addPasses;
  return hooks;
}

static void sayCompiled(const plan::PlanT &plan) {
  const plan::PeakReportT &peak = *plan.peaks.front();
  llvm::errs() << "compiled: " << peak.peak_bytes << " bytes of memory per rank (at least " << peak.lower_bound_bytes
               << " are needed), " << plan.kernels.size() << " kernels\n";
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static absl::Status checkOutput(const CompileOptions &options, const CompileInputs &inputs, const std::string &path) {
  const std::string folder = llvm::sys::path::parent_path(options.modelPath).str();
  std::vector<std::string> read = {options.configPath, options.machine, options.data.value_or("")};
  for (const CompileInputs::ModelFile &file : inputs.files)
    read.push_back((folder.empty() ? "." : folder) + "/" + file.path);
  return checkOutputs({{"-o", path, /*mayBeStream=*/true}}, read);
}

/// The plan from the cache or from the compiler.
static absl::StatusOr<std::string> makePlan(const CompileInputs &inputs, const CompileOptions &options,
                                            const ToolOptions &tool, TimingScope &timing) {
  // What is asked to tell how it compiles must compile.
  const bool mayBeKept = !options.explains && !options.checkEachPass && !tool.printsTiming && !tool.addPasses;
  PlanCache cache(mayBeKept && !inputs.compiler.empty() ? tool.planCache : "");
  const CompileHooks hooks = hooksOf(tool);
  const std::string key = inputs.key();
  if (std::optional<PlanCache::Kept> kept = cache.find(key)) {
    llvm::for_each(kept->notes, hooks.say);
    return std::move(kept->bytes);
  }
  DS_ASSIGN_OR_RETURN(const Compiled compiled, compile(inputs, options, hooks, timing));
  TimingScope scope = timing.nest("save");
  std::string bytes = plan::writePlan(*compiled.plan);
  cache.store(key, bytes);
  if (cache.fault())
    hooks.say("warning: plans are not kept for the next run: " + *cache.fault());
  if (!tool.isQuiet)
    sayCompiled(*compiled.plan);
  new std::shared_ptr<void>(compiled.workspace); // never freed, as the process ends
  return bytes;
}

static absl::Status compileTo(const std::string &path, const CompileOptions &options, const ToolOptions &tool,
                              TimingScope &timing) {
  TimingScope scope = timing.nest("inputs");
  DS_ASSIGN_OR_RETURN(const CompileInputs inputs, readInputs(options));
  scope.stop();
  DS_RETURN_IF_ERROR(checkOutput(options, inputs, path));
  std::string result;
  if (options.stage == Stage::Plan) {
    DS_ASSIGN_OR_RETURN(result, makePlan(inputs, options, tool, timing));
  } else {
    DS_ASSIGN_OR_RETURN(Compiled compiled, compile(inputs, options, hooksOf(tool), timing));
    result = std::move(compiled.program);
    new std::shared_ptr<void>(compiled.workspace); // never freed, as the process ends
  }
  return writeOutput(path, result);
}

int ds::runCompiler(const CompileOptions &options, const ToolOptions &tool) {
  if (tool.output.empty() && options.stage == Stage::Plan)
    return report(absl::InvalidArgumentError("-o FILE must be given: where the plan goes"));
  DefaultTimingManager manager;
  manager.setEnabled(tool.printsTiming);
  TimingScope timing = manager.getRootScope();
  const bool isStandard = tool.output.empty() || tool.output == "-";
  const absl::Status status = compileTo(isStandard ? "/dev/stdout" : tool.output, options, tool, timing);
  timing.stop();
  manager.print();
  return status.ok() ? kExitOk : report(status);
}

int ds::repeatDefect(const CompileOptions &options, const ToolOptions &tool, const File &reproducer) {
  const absl::StatusOr<CompileInputs> inputs = readInputs(options);
  if (!inputs.ok())
    return report(inputs.status());
  CompileHooks hooks = hooksOf(tool);
  hooks.remember = [&](const std::string &text) {
    if (::ftruncate(reproducer.descriptor(), 0) == 0)
      (void)reproducer.writeAt(0, text.data(), static_cast<int64_t>(text.size()));
  };
  TimingScope untimed;
  const absl::StatusOr<Compiled> compiled = compile(*inputs, options, hooks, untimed);
  return compiled.ok() ? kExitOk : report(compiled.status());
}
