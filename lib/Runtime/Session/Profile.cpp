// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Runtime/Session/Profile.h"

#include <nlohmann/json.hpp>

using nlohmann::json;

std::string ds::runtime::traceText(const plan::PlanT &plan, const std::vector<InstructionTiming> &timings) {
  constexpr double kMicroseconds = 1e6;
  json events = json::array();
  for (size_t queue = 0; queue < plan.queues.size(); ++queue)
    events.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", 0},
                      {"tid", queue},
                      {"args", {{"name", plan.queues[queue]->name}}}});
  for (const InstructionTiming &timing : timings)
    if (timing.seconds > 0)
      events.push_back({{"ph", "X"},
                        {"name", timing.name},
                        {"pid", 0},
                        {"tid", timing.queue},
                        {"ts", timing.beginSeconds * kMicroseconds},
                        {"dur", timing.seconds * kMicroseconds},
                        {"args", {{"order", timing.order}, {"waited", timing.waitSeconds * kMicroseconds}}}});
  // Names come from the model's file, which need not be UTF-8.
  return json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(-1, ' ', false, json::error_handler_t::replace);
}
