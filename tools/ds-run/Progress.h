// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a person sees while a job runs and after it.

#ifndef DS_TOOLS_DS_RUN_PROGRESS_H
#define DS_TOOLS_DS_RUN_PROGRESS_H

#include "Launcher.h"

#include "ds/Config/TrainingConfig.h"

#include <chrono>
#include <cstdio>
#include <deque>

namespace ds {

/// `1.5 GiB`, `312 MiB`, `17 B`.
std::string bytesText(int64_t bytes);
/// `2h 03m`, `4m 05s`, `12 s`, `0.3 s`.
std::string durationText(double seconds);

/// Prints `ds-run: TEXT` to standard error, with the names in it made harmless.
void printMessage(const std::string &text);

/// Prints how far the job is, writes the log, and remembers what the summary needs. On a terminal one line is
/// rewritten, at most ten times a second and never longer than the terminal is wide. Elsewhere lines follow each other.
class Progress : public JobListener {
public:
  struct Options {
    int64_t steps = 1;
    int64_t samplesPerStep = 0;
    int64_t tokensPerStep = 0;  ///< 0: samples are counted instead
    int64_t stepsPerPrint = 0;  ///< steps from line to line when not on a terminal; 0: a line every ten seconds
    bool skipsBadSteps = false; ///< bad steps change no variable (StepRecord::isBad)
    std::optional<TrainingConfig> config; ///< for the factor of clipping; nothing: not known
    bool isQuiet = false;
    std::FILE *log = nullptr; ///< one JSON record per step
    std::string logName;
  };
  explicit Progress(Options options);

  void onReady(int64_t rank, const runtime::MemoryUse &memory) override;
  void onStep(const runtime::StepRecord &record) override;
  void onNote(const std::string &text) override;
  void onDone(int64_t rank, const runtime::MemoryUse &memory) override;

  /// Ends the rewritten line, so that other text may follow.
  void endLine();
  /// Prints the first and the last losses, the speed, and the memory of the ranks.
  void printSummary() const;
  /// The same for programs, as JSON; bytes and seconds.
  std::string report() const;
  /// Whether a record could not be written to the log.
  bool hasLogFailed() const { return logFailed; }

private:
  std::string lineOf(const runtime::StepRecord &record) const;
  void writeLog(const runtime::StepRecord &record);
  bool isWorthALine(int64_t step) const;
  void printLine(const runtime::StepRecord &record);
  double unitsPerSecond(double secondsPerStep) const;
  double meanSeconds() const { return stepsDone > 1 ? sumSeconds / static_cast<double>(stepsDone - 1) : recentSeconds; }
  void printLosses() const;
  void printMemory() const;

  Options options;
  bool isTerminal;
  bool hasOpenLine = false;
  std::chrono::steady_clock::time_point lastLine; ///< when it was printed
  std::optional<runtime::StepRecord> unprinted;   ///< the last step, if it has no line yet
  int64_t badSteps = 0;
  bool logFailed = false;
  double recentSeconds = 0; ///< of a step, a running mean
  double sumSeconds = 0;    ///< of all steps but the first, which warms up
  int64_t stepsDone = 0;
  std::vector<runtime::StepRecord> firstRecords; ///< a few
  std::deque<runtime::StepRecord> lastRecords;   ///< of the steps after those, as many
  std::vector<runtime::MemoryUse> memory;        ///< by rank
};

} // namespace ds

#endif // DS_TOOLS_DS_RUN_PROGRESS_H
