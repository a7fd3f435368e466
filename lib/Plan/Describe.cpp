// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Plan/Access.h"
#include "ds/Plan/Extents.h"
#include "ds/Plan/Inspect.h"
#include "ds/Plan/Traffic.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

using namespace ds::plan;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string ds::plan::formatBytes(uint64_t bytes) {
  if (bytes < 1024)
    return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string ds::plan::formatIntSet(const IntSetT &set) {
  std::string text = absl::StrCat("[", set.low, ", ", set.high, ")");
  for (int64_t other : set.others)
    absl::StrAppend(&text, " or ", other);
  return text;
}

static std::string formatSeconds(double seconds) { return absl::StrFormat("%.3f ms", seconds * 1e3); }

static std::string typeName(DataType type, const ds::Shape &shape) {
  return absl::StrCat(std::string(nameOf(type)), "[", absl::StrJoin(shape, ", "), "]");
}

//===----------------------------------------------------------------------===//
// Head and memory
//===----------------------------------------------------------------------===//

static std::string describeHead(const PlanT &plan) {
  const ds::Mesh mesh = meshOf(plan);
  std::string axes = absl::StrJoin(mesh.axes(), ", ", [](std::string *out, const ds::MeshAxis &axis) {
    absl::StrAppend(out, axis.name, " = ", axis.size);
    if (!axis.weights.empty())
      absl::StrAppend(out, " weights [", absl::StrJoin(axis.weights, ", "), "]");
  });
  std::string text = absl::StrCat("plan       version ", plan.version, ", fingerprint ", plan.fingerprint, "\n");
  absl::StrAppend(&text, "mesh       <", axes, ">, ", mesh.numRanks(), mesh.numRanks() == 1 ? " rank\n" : " ranks\n");
  absl::StrAppend(&text, "step       ", plan.samples_per_step, " samples in ", loopCountOf(plan),
                  loopCountOf(plan) == 1 ? " part, " : " parts, ", formatSeconds(predictedSeconds(plan)),
                  " predicted\n");
  for (const auto &object : plan.objects)
    absl::StrAppend(&text, "code       ", formatBytes(object->data.size()), " for ", object->target,
                    object->features.empty() ? "" : " with ", absl::StrJoin(object->features, " "), "\n");
  absl::StrAppend(&text, "kernels    ", plan.kernels.size(), "\n");
  for (const std::string &note : plan.notes)
    absl::StrAppend(&text, note, "\n");
  return text;
}

static std::string describePeak(const PeakReportT &peak) {
  double above = peak.lower_bound_bytes == 0
                     ? 0
                     : 100.0 * (static_cast<double>(peak.peak_bytes) / static_cast<double>(peak.lower_bound_bytes) - 1);
  std::string text =
      absl::StrFormat("  peak %s, %.1f %% above the lower bound of %s, which is reached at \"%s\"\n",
                      formatBytes(peak.peak_bytes), above, formatBytes(peak.lower_bound_bytes), peak.instruction);
  if (!peak.largest.empty())
    absl::StrAppend(&text, "  largest tensors there:\n");
  for (const auto &tensor : peak.largest)
    absl::StrAppendFormat(&text, "    %12s  %s\n", formatBytes(tensor->bytes), tensor->name);
  return text;
}

std::string ds::plan::describeMemory(const PlanT &plan) {
  std::string text;
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    const ArenaT &arena = *plan.arenas[i];
    size_t buffers = 0;
    for (const auto &buffer : plan.buffers)
      buffers += buffer->arena == i;
    absl::StrAppend(&text, "arena \"", arena.name, "\" in ", std::string(nameOf(arena.memory)),
                    " memory: ", formatBytes(arena.bytes), " (", arena.bytes, " bytes) on each rank, ", buffers,
                    " buffers\n");
    for (const auto &peak : plan.peaks)
      if (peak->arena == i)
        text += describePeak(*peak);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Variables, ports, traffic
//===----------------------------------------------------------------------===//

static std::string describeVariables(const PlanT &plan) {
  std::string text = absl::StrCat("variables  ", plan.variables.size(), "\n");
  for (const auto &variable : plan.variables) {
    std::string role(nameOf(variable->role));
    const BufferT &buffer = *plan.buffers[variable->buffer];
    absl::StrAppendFormat(&text, "  %-15s %s  %s  %s, %s a rank", role, variable->name,
                          typeName(variable->type, variable->shape), layoutOf(plan, *variable->layout).str(),
                          formatBytes(buffer.bytes));
    if (variable->source)
      absl::StrAppend(&text, ", from ", variable->source->path);
    text += variable->role == VariableRole::Parameter && !variable->trainable ? ", frozen\n" : "\n";
  }
  return text;
}

static std::string describePorts(const PlanT &plan, const std::string &title,
                                 const std::vector<std::unique_ptr<PortT>> &ports) {
  std::string text = absl::StrFormat("%-10s %d\n", title, ports.size());
  for (const auto &port : ports)
    absl::StrAppend(&text, "  ", port->name, "  ", typeName(port->type, port->shape), "  ",
                    layoutOf(plan, *port->layout).str(), port->allowed ? ", in " + formatIntSet(*port->allowed) : "",
                    "\n");
  return text;
}

static std::string describeTraffic(const PlanT &plan) {
  std::string text = "traffic    received per step by the rank that receives most\n";
  for (const Traffic &traffic : trafficOf(plan))
    absl::StrAppendFormat(&text, "  %-14s %-10s %6d calls  %14.0f elements  %12s\n", traffic.kind,
                          traffic.axis.empty() ? "all ranks" : "over " + traffic.axis, traffic.calls, traffic.elements,
                          formatBytes(static_cast<uint64_t>(traffic.bytes)));
  return text;
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

static std::string operationName(const PlanT &plan, const InstructionT &instruction) {
  if (const auto *call = operationAs<KernelCallT>(instruction))
    return absl::StrCat("kernel ", plan.kernels[call->kernel]->symbol, " x", call->chunks);
  if (const auto *call = operationAs<LibraryCallT>(instruction))
    return std::string(nameOf(call->function));
  if (const auto *loop = operationAs<LoopBeginT>(instruction))
    return absl::StrCat("loop_begin x", loop->count);
  if (const auto *collective = operationAs<CollectiveT>(instruction))
    return absl::StrCat(std::string(nameOf(collective->kind)), " over ", plan.mesh[collective->axis]->name, ", ",
                        collective->segments.size(), " segments");
  return std::string(nameOf(instruction.operation.type));
}

/// "(#3 weight, #4 bias) -> #5 out"; a buffer that is read and written stands on both sides.
static std::string describeAccesses(const PlanT &plan, const InstructionT &instruction) {
  std::vector<std::string> reads, writes;
  for (const Access &access : accessesOf(plan, instruction)) {
    std::string name = absl::StrCat("#", access.buffer, " ", plan.buffers[access.buffer]->name);
    if (access.reads)
      reads.push_back(name);
    if (access.writes)
      writes.push_back(name);
  }
  if (reads.empty() && writes.empty())
    return "";
  return absl::StrCat("  (", absl::StrJoin(reads, ", "), ") -> ", absl::StrJoin(writes, ", "));
}

static std::string describeInstruction(const PlanT &plan, const InstructionT &instruction) {
  std::string text =
      absl::StrFormat("  %6d  %12s  %s  %s%s", instruction.order, formatSeconds(instruction.seconds), instruction.name,
                      operationName(plan, instruction), describeAccesses(plan, instruction));
  if (!instruction.waits.empty())
    absl::StrAppend(&text, "  waits ", absl::StrJoin(instruction.waits, ","));
  if (!instruction.signals.empty())
    absl::StrAppend(&text, "  signals ", absl::StrJoin(instruction.signals, ","));
  return text + "\n";
}

static std::string describeQueue(const PlanT &plan, const QueueT &queue) {
  double seconds = 0, times = 1;
  std::string instructions;
  for (const auto &instruction : queue.instructions) {
    if (instruction->operation.type == Operation::LoopEnd)
      times = 1;
    seconds += instruction->seconds * times;
    if (const auto *loop = operationAs<LoopBeginT>(*instruction))
      times = loop->count;
    instructions += describeInstruction(plan, *instruction);
  }
  return absl::StrCat("queue      \"", queue.name, "\", ", queue.instructions.size(), " instructions, ",
                      formatSeconds(seconds), " of work per step\n", instructions);
}

std::string ds::plan::describePlan(const PlanT &plan, const std::string &besideArenas) {
  std::string text = absl::StrCat(describeHead(plan), "\n", describeMemory(plan), besideArenas, "\n",
                                  describeVariables(plan), describePorts(plan, "inputs", plan.inputs),
                                  describePorts(plan, "outputs", plan.outputs), describeTraffic(plan), "\n");
  for (const auto &queue : plan.queues)
    text += describeQueue(plan, *queue);
  return text;
}
