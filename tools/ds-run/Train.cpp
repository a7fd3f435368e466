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
/// Variables to write at the end.
struct SaveTarget {
  std::string flag, path;
  std::set<plan::VariableRole> roles;
};
} // namespace

static std::map<std::string, plan::VariableRole> rolesByName() {
  std::map<std::string, plan::VariableRole> roles;
  for (const plan::VariableRole role : plan::EnumValuesVariableRole())
    roles[std::string(plan::nameOf(role))] = role;
  return roles;
}

/// What `options` asks to save.
static absl::StatusOr<std::vector<SaveTarget>> saveTargets(const TrainOptions &options) {
  std::vector<SaveTarget> targets;
  if (!options.saveModel.empty())
    targets.push_back({"--save-model", options.saveModel, runtime::modelRoles()});
  const std::map<std::string, plan::VariableRole> names = rolesByName();
  for (const std::string &dump : options.dumps) {
    const size_t equals = dump.find('=');
    const auto role = names.find(dump.substr(0, equals));
    if (equals == std::string::npos || role == names.end()) {
      const auto nameOnly = [](std::string *out, const auto &entry) { out->append(entry.first); };
      return absl::InvalidArgumentError(absl::StrCat("--dump-variables must be ROLE=FILE with a role of ",
                                                     absl::StrJoin(names, ", ", nameOnly), ", got ", dump));
    }
    targets.push_back({"--dump-variables", dump.substr(equals + 1), {role->second}});
  }
  return targets;
}

/// Opens the files, which appear when they are committed and not otherwise, takes the room that they need, so that a
/// full disk is found before the training, and adds them to the job. `profile`: the trace's path, or empty.
static absl::StatusOr<std::vector<PendingFile>> openTargets(const std::vector<SaveTarget> &targets,
                                                            const std::string &profile, PreparedRun &run) {
  Job &job = run.job;
  std::vector<PendingFile> files;
  for (const SaveTarget &target : targets) {
    DS_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(target.path));
    DS_ASSIGN_OR_RETURN(const int64_t bytes, runtime::savedBytes(*run.plan, target.roles));
    DS_RETURN_IF_ERROR(file.reserve(bytes));
    files.push_back(std::move(file));
    Job::Save save;
    save.descriptor = files.back().file().descriptor();
    for (const plan::VariableRole role : target.roles)
      save.roles.push_back(static_cast<int>(role));
    job.saves.push_back(std::move(save));
  }
  if (!profile.empty()) {
    DS_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(profile));
    files.push_back(std::move(file));
    job.profileDescriptor = files.back().file().descriptor();
  }
  return files;
}

static absl::StatusOr<std::FILE *> openLog(const std::string &path) {
  if (path.empty())
    return nullptr;
  DS_ASSIGN_OR_RETURN(File file, openForAppending(path));
  std::FILE *log = ::fdopen(file.descriptor(), "w");
  if (!log)
    return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot write: ", std::strerror(errno)));
  file.release();
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
  if (run.config)
    noteDefaultClipping(*run.config);
}

static absl::StatusOr<int> train(const TrainOptions &options) {
  DS_ASSIGN_OR_RETURN(const std::vector<SaveTarget> targets, saveTargets(options));
  std::vector<Output> outputs = {{"--log", options.log, /*mayBeStream=*/true}, {"--profile", options.profile}};
  for (const SaveTarget &target : targets)
    outputs.push_back({target.flag, target.path});
  DS_ASSIGN_OR_RETURN(PreparedRun run, prepareRun(options, outputs));
  if (run.exitCode != 0)
    return run.exitCode;
  DS_ASSIGN_OR_RETURN(std::vector<PendingFile> saves, openTargets(targets, options.profile, run));
  DS_ASSIGN_OR_RETURN(std::FILE * log, openLog(options.log));
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> logOwner(
      log, [](std::FILE *file) { return file ? std::fclose(file) : 0; });

  run.job.findsNan = options.findsNan;
  Progress::Options shown = progressOptions(run, options);
  shown.log = log;
  shown.logName = options.log;
  shown.stepsPerPrint = options.stepsPerPrint;
  if (shown.stepsPerPrint == 0 && run.config)
    shown.stepsPerPrint = run.config->stepsPerPrint.value_or(0);
  announce(run, options.isQuiet);
  Progress progress(shown);
  const JobResult result = runJob(*run.plan, run.job, progress);
  if (result.hasResults) { // also of a training that was stopped over its numbers: the last good weights
    progress.endLine();
    for (PendingFile &file : saves)
      DS_RETURN_IF_ERROR(file.commit());
    DS_RETURN_IF_ERROR(finishRun(options, progress));
  }
  if (const int code = reportJob(result, progress); code != kExitOk)
    return code;
  return progress.hasLogFailed() ? kExitStorage : kExitOk;
}

int runTrain(const TrainOptions &options) {
  const absl::StatusOr<int> code = train(options);
  return code.ok() ? *code : reportError(code.status());
}

} // namespace ds
