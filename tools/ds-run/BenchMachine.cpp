// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The machine is measured by what will run on it: a step of a small language model, made by the compiler, so that
// products, attention and kernels meet memory and caches as in any other step.

#include "CompileModel.h"
#include "CoreClaims.h"
#include "FitMachine.h"
#include "PreparedRun.h"
#include "TimeGathers.h"
#include "TimePlan.h"

#include "ds/Files/Outputs.h"
#include "ds/Plan/Check.h"
#include "ds/Runtime/StatusMacros.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

#include <map>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ds {

/// The processor's own name, for people.
static std::string processorName() {
#if defined(__x86_64__)
  constexpr unsigned kFirstPart = 0x80000002, kParts = 3;
  unsigned words[4 * kParts + 1] = {}; // ends with zeros
  for (unsigned part = 0; part < kParts; ++part)
    if (unsigned *to = words + 4 * part; !__get_cpuid(kFirstPart + part, to, to + 1, to + 2, to + 3))
      return "x86-64";
  return std::string(absl::StripAsciiWhitespace(reinterpret_cast<const char *>(words)));
#else
  return "a processor";
#endif
}

static Work workOf(const plan::WorkT &table) {
  return {table.matmul_flops, table.attention_flops, table.element_operations, table.bytes,
          table.parts,        table.link_rounds,     table.link_bytes};
}

/// The instructions that have work, with what they took.
static std::vector<MeasuredWork> join(const plan::PlanT &plan, const std::vector<InstructionTime> &times) {
  std::map<uint32_t, Work> works; // by order
  for (const auto &queue : plan.queues)
    for (const auto &instruction : queue->instructions)
      if (instruction->work)
        works[instruction->order] = workOf(*instruction->work);
  std::vector<MeasuredWork> measured;
  for (const InstructionTime &time : times)
    if (const auto work = works.find(time.order); work != works.end())
      measured.push_back({work->second, time.seconds});
  return measured;
}

static absl::Status measureSpeeds(const plan::PlanT &plan, const std::vector<int> &cores, Machine &machine) {
  constexpr int kSteps = 15;
  DS_ASSIGN_OR_RETURN(const std::vector<InstructionTime> times,
                      timePlan(plan, static_cast<int>(machine.cores), cores, kSteps));
  return fitSpeeds(join(plan, times), machine);
}

static absl::Status measureLink(const std::vector<int> &cores, Machine &machine) {
  constexpr int64_t kFewBytes = 1 << 10, kManyBytes = 16 << 20;
  DS_ASSIGN_OR_RETURN(const std::vector<double> seconds, timeGathers({kFewBytes, kManyBytes}, cores));
  fitLink({double(kFewBytes), seconds[0]}, {double(kManyBytes), seconds[1]}, machine);
  return absl::OkStatus();
}

static std::string describe(const Machine &machine) {
  const auto cores = static_cast<double>(machine.cores);
  return absl::StrFormat("%s, %d cores\n"
                         "  products     %7.1f GFLOP/s on all cores\n"
                         "  attention    %7.1f GFLOP/s\n"
                         "  kernels      %7.1f G operations on elements/s\n"
                         "  memory       %7.1f GB/s\n"
                         "  a call       %7.2f us\n"
                         "  ranks meet   %7.2f us\n"
                         "  link         %7.1f GB/s received by a rank\n",
                         machine.name, machine.cores, machine.matmulFlopsPerCore * cores / 1e9,
                         machine.attentionFlopsPerCore * cores / 1e9, machine.elementOpsPerCore * cores / 1e9,
                         machine.memoryBytesPerSecond / 1e9, machine.callSeconds * 1e6, machine.linkSeconds * 1e6,
                         machine.linkBytesPerSecond / 1e9);
}

static absl::Status benchMachine(const BenchMachineOptions &options, int &exitCode) {
  DS_RETURN_IF_ERROR(checkOutputs({{"-o", options.output, /*mayBeStream=*/true}}, {}));
  DS_ASSIGN_OR_RETURN(const CompileResult compiled, compileMachineProbe());
  exitCode = compiled.exitCode;
  if (exitCode != kExitOk)
    return absl::OkStatus();
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<plan::PlanT> plan, plan::loadPlan(compiled.plan));
  DS_RETURN_IF_ERROR(plan::check(*plan));
  const std::vector<int> cores = allowedCores();
  Machine machine;
  machine.name = processorName();
  machine.cores = static_cast<int64_t>(cores.size());
  DS_RETURN_IF_ERROR(measureLink(cores, machine)); // first, as it forks
  DS_RETURN_IF_ERROR(measureSpeeds(*plan, cores, machine));
  if (!options.isQuiet)
    std::fputs(describe(machine).c_str(), stderr);
  return writeOutput(options.output, printMachine(machine) + "\n");
}

int runBenchMachine(const BenchMachineOptions &options) {
  int exitCode = kExitOk;
  const absl::Status status = benchMachine(options, exitCode);
  return status.ok() ? exitCode : reportError(status);
}

} // namespace ds
