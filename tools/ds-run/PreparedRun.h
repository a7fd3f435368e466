// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// From the options of a command to a job that can be launched.

#ifndef DS_TOOLS_DS_RUN_PREPAREDRUN_H
#define DS_TOOLS_DS_RUN_PREPAREDRUN_H

#include "Commands.h"
#include "CoreClaims.h"
#include "Launcher.h"
#include "Progress.h"

#include "ds/Config/TrainingConfig.h"
#include "ds/Files/Outputs.h"

namespace ds {

/// A checked plan, and the job without its outputs.
struct PreparedRun {
  int exitCode = 0; ///< of a compiler that failed; then nothing else is set
  std::unique_ptr<plan::PlanT> plan;
  File planFile;
  CoreClaims cores; ///< held as long as the job runs
  std::optional<TrainingConfig> config;
  Job job;
};

/// Checks that `outputs` and those of `options` can be written and are nothing that the run reads, compiles the program
/// if it is a model, loads the plan, checks it and the data, and fills in the job.
absl::StatusOr<PreparedRun> prepareRun(const RunOptions &options, std::vector<Output> outputs);

/// Checks outputs against all that the run reads. Before there is a plan, the files of its values are not known.
absl::Status checkRunOutputs(const RunOptions &options, const plan::PlanT *plan, const std::vector<Output> &outputs);

/// How many threads a rank gets if the user asked for `asked`; 0: the cores of this process, shared by the ranks.
int threadsPerRank(int asked, int64_t ranks);

/// What the progress line needs to know of a job.
Progress::Options progressOptions(const PreparedRun &run, const RunOptions &options);

/// Says that gradients are clipped by default, if they are: the default is not that of every DeepSpeed.
void noteDefaultClipping(const TrainingConfig &config);

/// Prints `ds-run: error: ...` and returns the error's exit code.
int reportError(const absl::Status &status);

/// Prints the summary, and writes the report if one is asked for.
absl::Status finishRun(const RunOptions &options, const Progress &progress);

/// Ends a job's output: prints what went wrong, if anything did, and returns the exit code.
int reportJob(const JobResult &result, Progress &progress);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_PREPAREDRUN_H
