// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Job.h"

#include "absl/status/statusor.h"

namespace ds {

using Json = nlohmann::json;

static constexpr auto kReplace = Json::error_handler_t::replace;

void to_json(Json &json, const Job::Save &save) { json = {{"roles", save.roles}, {"descriptor", save.descriptor}}; }
void from_json(const Json &json, Job::Save &save) {
  json.at("roles").get_to(save.roles);
  json.at("descriptor").get_to(save.descriptor);
}
void to_json(Json &json, const Job::Output &output) {
  json = {{"output", output.output}, {"descriptor", output.descriptor}};
}
void from_json(const Json &json, Job::Output &output) {
  json.at("output").get_to(output.output);
  json.at("descriptor").get_to(output.descriptor);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Job, launcher, planDescriptor, sharedDescriptor, messageDescriptors, planName,
                                   fingerprint, config, configName, modelFolder, dataPath, tokenType, loadModel, steps,
                                   threads, cores, timeoutMs, saves, outputs, findsNan, profileDescriptor)

std::string writeJob(const Job &job) { return Json(job).dump(-1, ' ', false, kReplace); }

absl::StatusOr<Job> readJob(const std::string &text) {
  try { // the JSON library's only way to report
    return Json::parse(text).get<Job>();
  } catch (const Json::exception &) {
    return absl::InvalidArgumentError("ranks are started by ds-run itself");
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace runtime {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryUse, plannedArena, arena, library, resident, peakResident)
} // namespace runtime

/// JSON has no NaN; a diverged loss must still arrive, so numbers travel as hexadecimal text.
static Json numberText(const std::optional<double> &value) {
  if (!value)
    return nullptr;
  char text[40];
  std::snprintf(text, sizeof(text), "%a", *value);
  return text;
}

static std::optional<double> readNumberText(const Json &json) {
  if (!json.is_string())
    return std::nullopt;
  return std::strtod(json.get<std::string>().c_str(), nullptr);
}

std::string writeMessage(const Message &message) {
  const runtime::StepRecord &step = message.step;
  const Json json = {{"kind", static_cast<int>(message.kind)},
                     {"text", message.text},
                     {"code", static_cast<int>(message.code)},
                     {"memory", message.memory},
                     {"step", step.step},
                     {"loss", numberText(step.loss)},
                     {"grad_norm", numberText(step.gradientNorm)},
                     {"lr", numberText(step.learningRate)},
                     {"seconds", step.seconds},
                     {"steps", message.steps},
                     {"last_good_step", message.lastGoodStep},
                     {"stopped", message.wasStopped}};
  return json.dump(-1, ' ', false, kReplace) + "\n";
}

std::optional<Message> readMessage(const std::string &line) {
  try {
    const Json json = Json::parse(line);
    Message message;
    message.kind = static_cast<Message::Kind>(json.at("kind").get<int>());
    message.text = json.at("text").get<std::string>();
    message.code = static_cast<absl::StatusCode>(json.at("code").get<int>());
    message.memory = json.at("memory").get<runtime::MemoryUse>();
    message.step.step = json.at("step").get<int64_t>();
    message.step.loss = readNumberText(json.at("loss"));
    message.step.gradientNorm = readNumberText(json.at("grad_norm"));
    message.step.learningRate = readNumberText(json.at("lr"));
    message.step.seconds = json.at("seconds").get<double>();
    message.steps = json.at("steps").get<int64_t>();
    message.lastGoodStep = json.at("last_good_step").get<int64_t>();
    message.wasStopped = json.at("stopped").get<bool>();
    return message;
  } catch (const Json::exception &) {
    return std::nullopt;
  }
}

} // namespace ds
