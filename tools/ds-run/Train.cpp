// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "PreparedRun.h"

#include "ds/Plan/Extents.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <map>

namespace ds {

namespace {
/// Files that appear when the job has succeeded, and not otherwise.
class PendingSaves {
public:
  /// Opens the outputs that `options` asks for and adds them to `job`.
  absl::Status open(const TrainOptions &options, Job &job);
  absl::Status commit();

private:
  absl::Status add(const std::string &path, std::vector<int> roles, Job &job);

  std::vector<runtime::PendingFile> files;
};
} // namespace

absl::Status PendingSaves::add(const std::string &path, std::vector<int> roles, Job &job) {
  DS_ASSIGN_OR_RETURN(runtime::PendingFile file, runtime::PendingFile::create(path));
  files.push_back(std::move(file));
  job.saves.push_back({std::move(roles), files.back().file().descriptor()});
  return absl::OkStatus();
}

static std::map<std::string, plan::VariableRole> rolesByName() {
  std::map<std::string, plan::VariableRole> roles;
  for (const plan::VariableRole role : plan::EnumValuesVariableRole())
    roles[std::string(plan::nameOf(role))] = role;
  return roles;
}

absl::Status PendingSaves::open(const TrainOptions &options, Job &job) {
  if (!options.saveModel.empty()) {
    std::vector<int> roles;
    for (const plan::VariableRole role : runtime::modelRoles())
      roles.push_back(static_cast<int>(role));
    DS_RETURN_IF_ERROR(add(options.saveModel, roles, job));
  }
  const std::map<std::string, plan::VariableRole> names = rolesByName();
  for (const std::string &dump : options.dumps) {
    const size_t equals = dump.find('=');
    const auto role = names.find(dump.substr(0, equals));
    if (equals == std::string::npos || role == names.end()) {
      const auto nameOnly = [](std::string *out, const auto &entry) { out->append(entry.first); };
      return absl::InvalidArgumentError(absl::StrCat("--dump-variables must be ROLE=FILE with a role of ",
                                                     absl::StrJoin(names, ", ", nameOnly), ", got ", dump));
    }
    DS_RETURN_IF_ERROR(add(dump.substr(equals + 1), {static_cast<int>(role->second)}, job));
  }
  return absl::OkStatus();
}

absl::Status PendingSaves::commit() {
  for (runtime::PendingFile &file : files)
    DS_RETURN_IF_ERROR(file.commit());
  return absl::OkStatus();
}

static absl::StatusOr<std::FILE *> openLog(const std::string &path) {
  if (path.empty())
    return nullptr;
  std::FILE *log = std::fopen(path.c_str(), "we");
  if (!log)
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: ", std::strerror(errno)));
  return log;
}

static void announce(const PreparedRun &run, bool isQuiet) {
  if (isQuiet)
    return;
  const int64_t ranks = plan::meshOf(*run.plan).numRanks();
  std::printf("training %lld steps on %lld %s with %d %s each, arena %s per rank\n",
              static_cast<long long>(run.job.steps), static_cast<long long>(ranks), ranks == 1 ? "rank" : "ranks",
              run.job.threads, run.job.threads == 1 ? "thread" : "threads",
              bytesText(runtime::plannedArenaBytes(*run.plan)).c_str());
  std::fflush(stdout);
}

static absl::StatusOr<int> train(const TrainOptions &options) {
  DS_ASSIGN_OR_RETURN(PreparedRun run, prepareRun(options));
  if (run.exitCode != 0)
    return run.exitCode;
  PendingSaves saves;
  DS_RETURN_IF_ERROR(saves.open(options, run.job));
  DS_ASSIGN_OR_RETURN(std::FILE * log, openLog(options.log));
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> logOwner(
      log, [](std::FILE *file) { return file ? std::fclose(file) : 0; });

  Progress::Options shown = progressOptions(run, options);
  shown.log = log;
  shown.logName = options.log;
  shown.stepsPerPrint = options.stepsPerPrint;
  if (shown.stepsPerPrint == 0)
    shown.stepsPerPrint = run.config && run.config->stepsPerPrint ? *run.config->stepsPerPrint : 1;
  announce(run, options.isQuiet);
  Progress progress(shown);
  const JobResult result = runJob(*run.plan, run.job, progress);
  if (const int code = reportJob(result, progress); code != kExitOk)
    return code;
  DS_RETURN_IF_ERROR(saves.commit());
  DS_RETURN_IF_ERROR(finishRun(options, progress));
  return progress.hasLogFailed() ? kExitStorage : kExitOk;
}

int runTrain(const TrainOptions &options) {
  const absl::StatusOr<int> code = train(options);
  return code.ok() ? *code : reportError(code.status());
}

} // namespace ds
