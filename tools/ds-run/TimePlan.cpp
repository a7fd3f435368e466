// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "TimePlan.h"

#include "ds/Runtime/Executor.h"
#include "ds/Runtime/StatusMacros.h"

#include <algorithm>
#include <map>

using namespace ds;
using namespace ds::runtime;

/// Values that every op can take: floats from 0.1 to 1.1, whole numbers from 0 to below `end`.
static void fill(const BufferView &buffer, plan::DataType type, int64_t end = 16) {
  const auto put = [&](auto *data, auto valueAt) {
    for (size_t i = 0; i < buffer.bytes / sizeof(*data); ++i)
      data[i] = valueAt(static_cast<uint32_t>(i * 2654435761u));
  };
  if (type == plan::DataType::F32)
    put(static_cast<float *>(buffer.data), [](uint32_t hash) { return 0.1f + static_cast<float>(hash % 1024) / 1024; });
  if (type == plan::DataType::I64)
    put(static_cast<int64_t *>(buffer.data), [&](uint32_t hash) { return static_cast<int64_t>(hash >> 4) % end; });
}

/// Optimizer states begin at zero, as memory does.
static void fillParameters(const plan::PlanT &plan, const Executor &executor) {
  for (const auto &variable : plan.variables)
    if (variable->role == plan::VariableRole::Parameter)
      fill(executor.buffer(variable->buffer), variable->type);
}

namespace {
/// The plan's inputs, whose memory is used for other things once they have been read.
class Inputs {
public:
  Inputs(const plan::PlanT &plan, const Executor &executor) {
    for (const auto &port : plan.inputs) {
      const BufferView buffer = executor.buffer(port->buffer);
      fill(buffer, port->type, port->allowed ? port->allowed->high : 16);
      char *data = static_cast<char *>(buffer.data);
      inputs.push_back({data, {data, data + buffer.bytes}});
    }
  }
  /// Puts them back in place for the next step. What no step overwrites is left alone from the first time on: to read
  /// its copy would drive other things out of the caches.
  void restore() {
    const auto isUnchanged = [](const Input &input) {
      return std::equal(input.copy.begin(), input.copy.end(), input.data);
    };
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(), isUnchanged), inputs.end());
    for (const Input &input : inputs)
      std::copy(input.copy.begin(), input.copy.end(), input.data);
  }

private:
  struct Input {
    char *data;
    std::vector<char> copy;
  };

  std::vector<Input> inputs;
};
} // namespace

absl::StatusOr<std::vector<InstructionTime>> ds::timePlan(const plan::PlanT &plan, int threads,
                                                          const std::vector<int> &cores, int steps) {
  const std::unique_ptr<Transport> transport = createSingleRankTransport();
  ExecutorOptions options;
  options.threads = threads;
  options.cores = cores;
  options.collectTimings = true;
  DS_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::create(plan, 0, *transport, options));
  fillParameters(plan, *executor);
  Inputs inputs(plan, *executor);
  std::map<uint32_t, std::pair<std::string, std::vector<double>>> times; // by order
  for (int step = 0; step <= steps; ++step) {
    if (step > 0)
      inputs.restore();
    DS_RETURN_IF_ERROR(executor->runStep());
    for (const InstructionTiming &timing : executor->timings()) {
      auto &[name, seconds] = times[timing.order];
      name = timing.name;
      if (step > 0) // the first one warms up
        seconds.push_back(timing.seconds);
    }
  }
  std::vector<InstructionTime> list;
  for (auto &[order, time] : times) {
    auto &[name, seconds] = time;
    std::nth_element(seconds.begin(), seconds.begin() + steps / 2, seconds.end());
    list.push_back({order, name, seconds[steps / 2]});
  }
  return list;
}
