// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/Machine.h"

#include "JsonReader.h"
#include "Text.h"

#include "ds/Config/NearestWord.h"
#include "ds/Files/File.h"

#include <algorithm>
#include <cmath>

using namespace ds;
using namespace ds::config;

/// Two cores of a server CPU with AVX-512, estimated from kernels and matmuls of small language models, not calibrated.
static Machine cpuPreset() {
  Machine machine;
  machine.name = "cpu";
  machine.cores = 2;
  machine.matmulFlopsPerCore = 150e9;
  machine.attentionFlopsPerCore = 120e9;
  machine.elementOpsPerCore = 40e9;
  machine.memoryBytesPerSecond = 50e9;
  machine.callSeconds = 3e-6;
  machine.linkSeconds = 5e-6;
  machine.linkBytesPerSecond = 10e9;
  return machine;
}

namespace {
/// A number of the file and its place.
struct MachineKey {
  const char *name;
  double Machine::*place;
};
} // namespace

static constexpr MachineKey kKeys[] = {
    {"matmul_flops_per_core", &Machine::matmulFlopsPerCore},
    {"attention_flops_per_core", &Machine::attentionFlopsPerCore},
    {"element_operations_per_core", &Machine::elementOpsPerCore},
    {"memory_bytes_per_second", &Machine::memoryBytesPerSecond},
    {"call_seconds", &Machine::callSeconds},
    {"link_seconds", &Machine::linkSeconds},
    {"link_bytes_per_second", &Machine::linkBytesPerSecond},
};

static std::vector<std::string> keyNames() {
  std::vector<std::string> names = {"name", "cores"};
  for (const MachineKey &key : kKeys)
    names.push_back(key.name);
  return names;
}

static absl::Status faultOf(std::string_view fileName, const std::string &text) {
  return absl::InvalidArgumentError(printable(fileName, 200) + ": " + text);
}

static absl::Status checkKeys(const nlohmann::json &document, std::string_view fileName) {
  if (!document.is_object())
    return faultOf(fileName, "a machine must be an object");
  const std::vector<std::string> names = keyNames();
  for (const auto &[key, value] : document.items())
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      const std::string near = nearestWord(key, names);
      return faultOf(fileName, "unknown key \"" + printable(key) + "\"" +
                                   (near.empty() ? "" : ", did you mean \"" + near + "\"?"));
    }
  for (const std::string &name : names)
    if (!document.contains(name))
      return faultOf(fileName, "\"" + name + "\" must be given; `ds-run bench machine` measures all of them");
  return absl::OkStatus();
}

static absl::StatusOr<double> positiveNumber(const nlohmann::json &document, const std::string &key,
                                             std::string_view fileName) {
  const nlohmann::json &value = document[key];
  if (value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0)
    return value.get<double>();
  return faultOf(fileName, "\"" + key + "\" must be a number > 0, got " + printable(value.dump()));
}

absl::StatusOr<Machine> ds::parseMachine(std::string_view text, std::string_view fileName) {
  absl::StatusOr<nlohmann::json> document = readJson(text, fileName);
  if (!document.ok())
    return document.status();
  if (absl::Status status = checkKeys(*document, fileName); !status.ok())
    return status;
  Machine machine;
  if (!(*document)["name"].is_string())
    return faultOf(fileName, "\"name\" must be a string");
  machine.name = (*document)["name"].get<std::string>();
  const nlohmann::json &cores = (*document)["cores"];
  constexpr int64_t maxCores = 1 << 20;
  if (!cores.is_number_integer() || cores.get<int64_t>() < 1 || cores.get<int64_t>() > maxCores)
    return faultOf(fileName, "\"cores\" must be an integer from 1 to 1048576, got " + printable(cores.dump()));
  machine.cores = cores.get<int64_t>();
  for (const MachineKey &key : kKeys) {
    absl::StatusOr<double> value = positiveNumber(*document, key.name, fileName);
    if (!value.ok())
      return value.status();
    machine.*key.place = *value;
  }
  return machine;
}

absl::StatusOr<Machine> ds::findMachine(std::string_view nameOrPath) {
  constexpr int64_t maxBytes = 1 << 20;
  if (nameOrPath == "cpu")
    return cpuPreset();
  const absl::StatusOr<std::string> text = readWholeFile(std::string(nameOrPath), maxBytes);
  if (!text.ok())
    return absl::InvalidArgumentError("a machine must be the preset \"cpu\" or a file, got \"" +
                                      printable(nameOrPath, 200) + "\": " + std::string(text.status().message()));
  return parseMachine(*text, nameOrPath);
}

std::string ds::printMachine(const Machine &machine) {
  nlohmann::json document = {{"name", machine.name}, {"cores", machine.cores}};
  for (const MachineKey &key : kKeys)
    document[key.name] = machine.*key.place;
  return document.dump(1);
}

Machine ds::shareOf(const Machine &machine, int64_t ranks) {
  Machine share = machine;
  share.cores = std::max<int64_t>(1, machine.cores / ranks);
  const double perCore = std::min(1.0, static_cast<double>(machine.cores) / static_cast<double>(ranks));
  share.matmulFlopsPerCore *= perCore;
  share.attentionFlopsPerCore *= perCore;
  share.elementOpsPerCore *= perCore;
  share.memoryBytesPerSecond /= static_cast<double>(ranks);
  return share;
}

double ds::sharingCores(const Work &work, const Machine &rank) {
  const auto cores = static_cast<double>(rank.cores);
  return work.parts > 0 ? std::min(work.parts, cores) : cores;
}

double ds::secondsOf(const Work &work, const Machine &rank) {
  const double cores = sharingCores(work, rank), memory = work.bytes / rank.memoryBytesPerSecond;
  const double arithmetic =
      (work.attentionFlops / rank.attentionFlopsPerCore + work.elementOps / rank.elementOpsPerCore) / cores;
  const double compute = work.matmulFlops > 0
                             ? work.matmulFlops / rank.matmulFlopsPerCore / cores + kExposedMemoryOfProducts * memory
                             : std::max(arithmetic, memory);
  return rank.callSeconds + compute + work.linkRounds * rank.linkSeconds + work.linkBytes / rank.linkBytesPerSecond;
}
