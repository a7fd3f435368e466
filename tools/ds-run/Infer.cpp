// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CompileModel.h"
#include "PreparedRun.h"

#include "ds/Files/Folder.h"
#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace ds {

/// Where the outputs go, FOLDER/NAME.npy for each output of the plan.
static absl::StatusOr<std::vector<Output>> outputsOf(const plan::PlanT &plan, const std::string &folder) {
  std::vector<Output> outputs;
  for (const auto &port : plan.outputs) {
    const std::optional<std::string> path = runtime::numpyPathOf(folder, port->name);
    if (!path)
      return absl::InvalidArgumentError(absl::StrCat("output '", port->name, "' cannot be the name of a file"));
    DS_RETURN_IF_ERROR(makeFolder(fs::path(*path).parent_path().string()));
    outputs.push_back({"--output", *path});
  }
  return outputs;
}

/// Opens a file for each output, takes the room that it needs, and adds it to the job.
static absl::Status openOutputs(const std::vector<Output> &outputs, PreparedRun &run, std::vector<PendingFile> &files) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    DS_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(outputs[i].path));
    DS_RETURN_IF_ERROR(file.reserve(runtime::outputBytes(*run.plan->outputs[i], run.job.steps)));
    files.push_back(std::move(file));
    run.job.outputs.push_back({static_cast<int64_t>(i), files.back().file().descriptor()});
  }
  return absl::OkStatus();
}

static absl::StatusOr<int> infer(InferOptions options) {
  // A model is compiled to its forward function.
  if (!isPlanFile(options.program))
    options.compilerFlags.push_back("--infer");
  // Before the work whose results go there: the folder is there, and files are possible in it.
  DS_RETURN_IF_ERROR(makeFolder(options.output));
  DS_RETURN_IF_ERROR(checkWritable((fs::path(options.output) / "output.npy").string()));
  DS_ASSIGN_OR_RETURN(PreparedRun run, prepareRun(options, {}));
  if (run.exitCode != 0)
    return run.exitCode;
  DS_ASSIGN_OR_RETURN(const std::vector<Output> outputs, outputsOf(*run.plan, options.output));
  DS_RETURN_IF_ERROR(checkRunOutputs(options, run.plan.get(), outputs));
  std::vector<PendingFile> files;
  DS_RETURN_IF_ERROR(openOutputs(outputs, run, files));
  Progress progress(progressOptions(run, options));
  const JobResult result = runJob(*run.plan, run.job, progress);
  if (const int code = reportJob(result, progress); code != kExitOk)
    return code;
  for (PendingFile &file : files)
    DS_RETURN_IF_ERROR(file.commit());
  DS_RETURN_IF_ERROR(finishRun(options, progress));
  return kExitOk;
}

int runInfer(const InferOptions &options) {
  const absl::StatusOr<int> code = infer(options);
  return code.ok() ? *code : reportError(code.status());
}

} // namespace ds
