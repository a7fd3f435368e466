// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Runs a plan of one rank on made-up data and says how long each instruction takes: ds-bench-plan PLAN THREADS STEPS.
/// Prints a JSON list of the instructions of the compute queue: order, name and the median of seconds over the steps.

#include "Measure.h"

#include "ds-run/TimePlan.h"

#include "ds/Runtime/StatusMacros.h"

#include "nlohmann/json.hpp"

#include <cstdio>
#include <cstdlib>

using namespace ds;

static absl::Status run(const char *path, int threads, int steps) {
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<plan::PlanT> plan, plan::loadPlan(path));
  DS_ASSIGN_OR_RETURN(const std::vector<InstructionTime> times,
                      timePlan(*plan, threads, benchmark::usableCores(), steps));
  nlohmann::json list = nlohmann::json::array();
  for (const InstructionTime &time : times)
    list.push_back({{"order", time.order}, {"name", time.name}, {"seconds", time.seconds}});
  std::printf("%s\n", list.dump().c_str());
  return absl::OkStatus();
}

int main(int argc, char **argv) {
  const int threads = argc == 4 ? std::atoi(argv[2]) : 0, steps = argc == 4 ? std::atoi(argv[3]) : 0;
  if (threads < 1 || steps < 1) {
    std::fprintf(stderr, "usage: ds-bench-plan PLAN THREADS STEPS, both at least 1\n");
    return 2;
  }
  const absl::Status status = run(argv[1], threads, steps);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 2;
}
