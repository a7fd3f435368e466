// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CompileCache.h"
#include "PreparedRun.h"

#include "ds/Runtime/Session/TensorFiles.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace ds {

/// Makes the folder of the outputs, before the work whose results go there; files must be possible in it.
static absl::Status makeFolder(const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat(folder, ": cannot create: ", error.message()));
  return runtime::checkWritable((fs::path(folder) / "output.npy").string());
}

/// Opens FOLDER/NAME.npy for each output of the plan and adds them to the job.
static absl::Status openOutputs(const std::string &folder, PreparedRun &run, std::vector<runtime::PendingFile> &files) {
  for (size_t i = 0; i < run.plan->outputs.size(); ++i) {
    const std::string &name = run.plan->outputs[i]->name;
    const std::optional<std::string> path = runtime::numpyPathOf(folder, name);
    if (!path)
      return absl::InvalidArgumentError(absl::StrCat("output '", name, "' cannot be the name of a file"));
    std::error_code error; // creating the file tells it
    fs::create_directories(fs::path(*path).parent_path(), error);
    DS_ASSIGN_OR_RETURN(runtime::PendingFile file, runtime::PendingFile::create(*path));
    files.push_back(std::move(file));
    run.job.outputs.push_back({static_cast<int64_t>(i), files.back().file().descriptor()});
  }
  return absl::OkStatus();
}

static absl::StatusOr<int> infer(InferOptions options) {
  // A model is compiled to its forward function.
  if (!isPlanFile(options.program))
    options.compilerFlags.push_back("--infer");
  DS_RETURN_IF_ERROR(makeFolder(options.output));
  DS_ASSIGN_OR_RETURN(PreparedRun run, prepareRun(options, {}));
  if (run.exitCode != 0)
    return run.exitCode;
  std::vector<runtime::PendingFile> files;
  DS_RETURN_IF_ERROR(openOutputs(options.output, run, files));
  Progress progress(progressOptions(run, options));
  const JobResult result = runJob(*run.plan, run.job, progress);
  if (const int code = reportJob(result, progress); code != kExitOk)
    return code;
  for (runtime::PendingFile &file : files)
    DS_RETURN_IF_ERROR(file.commit());
  DS_RETURN_IF_ERROR(finishRun(options, progress));
  return kExitOk;
}

int runInfer(const InferOptions &options) {
  const absl::StatusOr<int> code = infer(options);
  return code.ok() ? *code : reportError(code.status());
}

} // namespace ds
