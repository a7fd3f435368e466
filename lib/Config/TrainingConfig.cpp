// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/TrainingConfig.h"

#include "Expression.h"
#include "JsonReader.h"
#include "SchemaCheck.h"
#include "Text.h"

#include "ds/Files/File.h"

namespace ds {

using namespace config;

static absl::Status errorOf(const std::vector<std::string> &messages, absl::StatusCode code,
                            std::string_view fileName) {
  std::string text;
  for (const std::string &message : messages)
    text += (text.empty() ? "" : "\n") + printable(fileName, 200) + ": " + message;
  return absl::Status(code, text);
}

static TrainingConfig fillStructs(const CheckedDocument &document) {
  TrainingConfig config;
  std::string type;
  for (const ConfigKey &key : configKeys()) {
    if (!key.selector.empty())
      type = selectedType(key, document.values);
    if (!key.field || !key.existsFor(type))
      continue;
    const auto written = document.values.find(key.path);
    storeField(key.field(config), written != document.values.end() ? written->second : Json::parse(key.defaultText));
  }
  config.keysWithoutEffect = document.withoutEffect;
  return config;
}

/// Resolves what DeepSpeed derives from several keys.
static void resolveOptimizer(TrainingConfig &config, const CheckedDocument &document) {
  OptimizerConfig &optimizer = config.optimizer;
  if (optimizer.kind == OptimizerKind::Adam && optimizer.isDecoupled)
    optimizer.kind = OptimizerKind::AdamW;
  optimizer.isDecoupled = optimizer.kind != OptimizerKind::Adam;
  if (optimizer.isTorchAdam && optimizer.kind == OptimizerKind::AdamW && !document.has("optimizer.params.weight_decay"))
    optimizer.weightDecay = 0.01;
}

static void checkTogether(const TrainingConfig &config, CheckedDocument &document) {
  const OptimizerConfig &optimizer = config.optimizer;
  if (optimizer.nesterov && (optimizer.momentum <= 0 || optimizer.dampening != 0))
    document.invalid.push_back(
        "\"optimizer.params.nesterov\" must go with momentum > 0 and dampening 0, got momentum " +
        numberText(optimizer.momentum) + " and dampening " + numberText(optimizer.dampening));
  const bool hasBetas = optimizer.kind == OptimizerKind::Adam || optimizer.kind == OptimizerKind::AdamW;
  if (config.scheduler.kind == SchedulerKind::OneCycle && config.scheduler.cyclesMomentum && hasBetas)
    document.unsupported.push_back("\"scheduler.params.cycle_momentum\" must be false with Adam and AdamW in this "
                                   "version, got true");
  if (config.model.loss.isAttached() && document.has("model.loss.output"))
    document.invalid.push_back("\"model.loss\" must have either \"output\" or \"logits\", got both");
  for (const char *name : {"labels", "shift", "ignore_index"})
    if (!config.model.loss.isAttached() && document.has(std::string("model.loss.") + name))
      document.invalid.push_back("\"model.loss." + std::string(name) + "\" must go with \"logits\", got no \"logits\"");
}

static void checkExpressions(const std::string &key, const std::vector<std::string> &patterns,
                             CheckedDocument &document) {
  for (const std::string &pattern : patterns)
    if (!isExpression(pattern))
      document.invalid.push_back('"' + key + "\" must hold regular expressions of at most 1000 bytes, got \"" +
                                 printable(pattern) + '"');
}

static void checkExpressions(const ModelConfig &model, CheckedDocument &document) {
  checkExpressions("model.frozen", model.frozen, document);
  checkExpressions("model.parameters", model.parameters, document);
  checkExpressions("model.buffers", model.buffers, document);
  for (const std::vector<std::string> &group : model.tied.value_or(std::vector<std::vector<std::string>>()))
    checkExpressions("model.tied", group, document);
}

absl::StatusOr<TrainingConfig> parseTrainingConfig(std::string_view text, std::string_view fileName) {
  absl::StatusOr<Json> json = readJson(text, fileName);
  if (!json.ok())
    return json.status();
  CheckedDocument document = checkDocument(*json);
  if (!document.invalid.empty())
    return errorOf(document.invalid, absl::StatusCode::kInvalidArgument, fileName);
  TrainingConfig config = fillStructs(document);
  resolveOptimizer(config, document);
  config.isClippingDefault = !document.has("gradient_clipping");
  checkTogether(config, document);
  checkExpressions(config.model, document);
  if (!document.invalid.empty())
    return errorOf(document.invalid, absl::StatusCode::kInvalidArgument, fileName);
  if (!document.unsupported.empty())
    return errorOf(document.unsupported, absl::StatusCode::kUnimplemented, fileName);
  return config;
}

absl::StatusOr<TrainingConfig> loadTrainingConfig(const std::string &path) {
  const absl::StatusOr<std::string> text = readWholeFile(path, kMaxConfigBytes);
  return text.ok() ? parseTrainingConfig(*text, path) : text.status();
}

static Json::json_pointer pointerTo(const ConfigKey &key) {
  std::string pointer = "/" + key.path;
  for (char &c : pointer)
    if (c == '.')
      c = '/';
  return Json::json_pointer(pointer);
}

std::string printTrainingConfig(const TrainingConfig &config) {
  TrainingConfig copy = config; // fields are pointers to what may be changed
  Json document = Json::object();
  std::string type;
  for (const ConfigKey &key : configKeys()) {
    if (!key.selector.empty()) {
      const auto selector = Json::json_pointer("/" + key.section + "/" + key.selector);
      type = document.contains(selector) ? document[selector].get<std::string>() : "";
    }
    if (!key.field || !key.existsFor(type))
      continue;
    if (const Json value = loadField(key.field(copy)); !value.is_null())
      document[pointerTo(key)] = value;
  }
  // The two ways to a loss exclude each other.
  Json &loss = document["model"]["loss"];
  for (const char *name : {"logits", "labels", "shift", "ignore_index", "output"})
    if ((std::string_view(name) == "output") == config.model.loss.isAttached())
      loss.erase(name);
  return document.dump(2) + "\n";
}

} // namespace ds
