// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Progress.h"

#include "ds/Config/EscapeControls.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ds {

static constexpr size_t kEnds = 4; // steps at either end of the table of losses
static constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
static constexpr auto kLineInterval = std::chrono::seconds(10);
static constexpr size_t kUsualColumns = 80;

void printMessage(const std::string &text) { std::fprintf(stderr, "ds-run: %s\n", escapeControls(text).c_str()); }

/// NaN has no sign that would mean anything.
static std::string lossText(double value) { return std::isnan(value) ? "nan" : absl::StrFormat("%.6f", value); }

static size_t terminalColumns() {
  winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

std::string bytesText(int64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return absl::StrFormat("%.*f %s", unit == 0 || value >= 100 ? 0 : 1, value, units[unit]);
}

std::string durationText(double seconds) {
  if (seconds < 10)
    return absl::StrFormat("%.1f s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60)
    return absl::StrFormat("%d s", whole);
  if (whole < 3600)
    return absl::StrFormat("%dm %02ds", whole / 60, whole % 60);
  return absl::StrFormat("%dh %02dm", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(Options progressOptions)
    : options(std::move(progressOptions)), isTerminal(::isatty(STDOUT_FILENO) != 0) {}

void Progress::onReady(int64_t, const runtime::MemoryUse &) {}

void Progress::onNote(const std::string &text) {
  endLine();
  printMessage(text);
}

void Progress::onDone(int64_t rank, const runtime::MemoryUse &use) {
  if (static_cast<size_t>(rank) >= memory.size())
    memory.resize(rank + 1);
  memory[rank] = use;
}

void Progress::endLine() {
  if (hasOpenLine && unprinted)
    printLine(*unprinted);
  if (hasOpenLine)
    std::fputs("\n", stdout);
  hasOpenLine = false;
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

double Progress::unitsPerSecond(double secondsPerStep) const {
  const int64_t units = options.tokensPerStep ? options.tokensPerStep : options.samplesPerStep;
  return secondsPerStep > 0 ? static_cast<double>(units) / secondsPerStep : 0;
}

std::string Progress::lineOf(const runtime::StepRecord &record) const {
  std::string line = absl::StrFormat("step %d/%d", record.step + 1, options.steps);
  if (record.loss)
    absl::StrAppend(&line, "  loss ", lossText(*record.loss));
  if (record.gradientNorm)
    absl::StrAppend(&line, "  grad norm ",
                    std::isnan(*record.gradientNorm) ? "nan" : absl::StrFormat("%.4f", *record.gradientNorm));
  absl::StrAppendFormat(&line, "  %.0f %s/s", unitsPerSecond(recentSeconds),
                        options.tokensPerStep ? "tokens" : "samples");
  if (record.step + 1 < options.steps)
    absl::StrAppend(&line, "  ETA ",
                    durationText(recentSeconds * static_cast<double>(options.steps - record.step - 1)));
  return line;
}

bool Progress::isWorthALine(int64_t step) const {
  const auto sinceLast = std::chrono::steady_clock::now() - lastLine;
  if (step == 0 || step + 1 == options.steps)
    return true;
  if (isTerminal)
    return sinceLast >= kTerminalInterval;
  return options.stepsPerPrint > 0 ? step % options.stepsPerPrint == 0 : sinceLast >= kLineInterval;
}

void Progress::printLine(const runtime::StepRecord &record) {
  std::string line = lineOf(record);
  if (isTerminal) { // a line that wraps could not be rewritten
    line.resize(std::min(line.size(), terminalColumns() - 1));
    std::fprintf(stdout, "\r\x1b[2K%s", line.c_str());
  } else {
    std::fprintf(stdout, "%s\n", line.c_str());
  }
  std::fflush(stdout);
  hasOpenLine = isTerminal;
  lastLine = std::chrono::steady_clock::now();
  unprinted.reset();
}

void Progress::onStep(const runtime::StepRecord &record) {
  if (firstRecords.size() < kEnds)
    firstRecords.push_back(record);
  else
    lastRecords.push_back(record);
  if (lastRecords.size() > kEnds)
    lastRecords.pop_front();
  ++stepsDone;
  recentSeconds = record.step < 2 ? record.seconds : 0.8 * recentSeconds + 0.2 * record.seconds;
  sumSeconds += record.step == 0 ? 0 : record.seconds;
  badSteps += record.isBad();
  writeLog(record);
  unprinted = record;
  if (!options.isQuiet && isWorthALine(record.step))
    printLine(record);
}

/// JSON has no NaN and no infinity.
static nlohmann::ordered_json numberOrNull(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void Progress::writeLog(const runtime::StepRecord &record) {
  if (!options.log || logFailed)
    return;
  std::optional<double> factor;
  if (options.config && record.gradientNorm)
    factor = clippingFactor(*options.config, *record.gradientNorm);
  nlohmann::ordered_json json = {{"step", record.step},
                                 {"loss", numberOrNull(record.loss)},
                                 {"grad_norm", numberOrNull(record.gradientNorm)},
                                 {"clip_coef", numberOrNull(factor)},
                                 {"lr", numberOrNull(record.learningRate)},
                                 {"seconds", record.seconds},
                                 {"samples", options.samplesPerStep}};
  if (options.skipsBadSteps && record.isBad())
    json["skipped"] = true;
  logFailed = std::fprintf(options.log, "%s\n", json.dump().c_str()) < 0 || std::fflush(options.log) != 0;
  if (logFailed)
    onNote(absl::StrCat("cannot write ", options.logName, ", the log ends with step ", record.step - 1));
}

//===----------------------------------------------------------------------===//
// Summary
//===----------------------------------------------------------------------===//

static void printLoss(const runtime::StepRecord &record) {
  std::printf("  %8lld", static_cast<long long>(record.step));
  for (const std::optional<double> &value : {record.loss, record.gradientNorm})
    std::printf("  %12s", value ? lossText(*value).c_str() : "-");
  std::printf("  %12s\n", record.learningRate ? absl::StrFormat("%.4g", *record.learningRate).c_str() : "-");
}

void Progress::printLosses() const {
  std::printf("\n  %8s  %12s  %12s  %12s\n", "step", "loss", "grad norm", "lr");
  for (const runtime::StepRecord &record : firstRecords)
    printLoss(record);
  if (stepsDone > static_cast<int64_t>(2 * kEnds))
    std::printf("  %8s\n", "...");
  for (const runtime::StepRecord &record : lastRecords)
    printLoss(record);
}

void Progress::printMemory() const {
  std::printf("\n  %4s  %14s  %14s  %14s  %14s  %14s\n", "rank", "arena planned", "arena taken", "libraries",
              "resident peak", "beyond those");
  for (size_t rank = 0; rank < memory.size(); ++rank) {
    const runtime::MemoryUse &use = memory[rank];
    std::printf("  %4zu  %14s  %14s  %14s  %14s  %14s\n", rank, bytesText(use.plannedArena).c_str(),
                bytesText(use.arena).c_str(), bytesText(use.library).c_str(), bytesText(use.peakResident).c_str(),
                bytesText(std::max<int64_t>(0, use.peakResident - use.arena - use.library)).c_str());
  }
}

void Progress::printSummary() const {
  if (options.isQuiet)
    return;
  if (!firstRecords.empty() && firstRecords.front().loss)
    printLosses();
  printMemory();
  if (stepsDone > 1)
    std::printf("\n  %s per step after the first, %.0f %s/s\n", absl::StrFormat("%.4g s", meanSeconds()).c_str(),
                unitsPerSecond(meanSeconds()), options.tokensPerStep ? "tokens" : "samples");
  if (badSteps > 0)
    std::printf("\n  %lld of %lld steps had a loss or gradient norm that is not finite%s\n",
                static_cast<long long>(badSteps), static_cast<long long>(stepsDone),
                options.skipsBadSteps ? " and changed nothing" : "");
  std::fflush(stdout);
}

std::string Progress::report() const {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const runtime::MemoryUse &use : memory)
    ranks.push_back({{"arena_planned", use.plannedArena},
                     {"arena_taken", use.arena},
                     {"library", use.library},
                     {"resident", use.resident},
                     {"resident_peak", use.peakResident}});
  const nlohmann::ordered_json json = {{"steps", stepsDone},
                                       {"samples_per_step", options.samplesPerStep},
                                       {"seconds_per_step", meanSeconds()},
                                       {"ranks", ranks}};
  return json.dump(2) + "\n";
}

} // namespace ds
