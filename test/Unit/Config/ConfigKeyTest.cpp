// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Properties that hold for every key of the table.

#include "ConfigKey.h"
#include "KeyValue.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sstream>

namespace ds::config {
namespace {

std::string typeOf(const ConfigKey &key) { return key.types.empty() ? "" : key.types.front(); }

/// Values of the key's form that are not its default.
std::vector<Json> otherValues(const ConfigKey &key) {
  std::vector<Json> candidates = {true,
                                  false,
                                  "c",
                                  Json::array({0.5, 0.25}),
                                  Json::array({3, 5}),
                                  Json::array({"a"}),
                                  Json::array({Json::array({"a", "b"})}),
                                  Json({{"enabled", true}}),
                                  Json({{"batch", 3}})};
  for (const double number : {0.5, 1.0, 2.0, 77.0, -3.0})
    candidates.push_back(number);
  candidates.insert(candidates.end(), key.choices.begin(), key.choices.end());
  const Json usual = Json::parse(key.defaultText);
  std::vector<Json> values;
  for (Json &candidate : candidates)
    if (checkValue(key, candidate).empty() && candidate != usual)
      values.push_back(candidate);
  return values;
}

Json requiredValue(const ConfigKey &key) {
  if (key.kind == KeyKind::Choice)
    return key.choices.front();
  return 1;
}

/// The smallest document with room for keys of `section`, for the given value of its selector.
Json documentWith(const std::string &section, const std::string &type, Json content) {
  for (const ConfigKey *key : keysOf(section))
    if (key->isRequired && key->existsFor(type) && !content.contains(key->name))
      content[key->name] = requiredValue(*key);
  if (section.empty())
    return content;
  const auto row =
      std::find_if(configKeys().begin(), configKeys().end(), [&](const ConfigKey &key) { return key.path == section; });
  Json outer = {{row->name, std::move(content)}};
  if (!row->selector.empty())
    outer[row->selector] = type;
  return documentWith(row->section, "", std::move(outer));
}

Json documentWith(const ConfigKey &key, const Json &value) {
  // OneCycle is honoured only without cycling momentum.
  Json content = {{key.name, value}};
  if (typeOf(key) == "OneCycle" && key.name != "cycle_momentum")
    content["cycle_momentum"] = false;
  return documentWith(key.section, typeOf(key), content);
}

std::set<std::string> mutationsOf(const std::string &name) {
  std::set<std::string> mutations;
  for (size_t i = 0; i < name.size(); ++i) {
    mutations.insert(name.substr(0, i) + name.substr(i + 1));
    mutations.insert(name.substr(0, i) + "x" + name.substr(i + 1));
    mutations.insert(name.substr(0, i) + "x" + name.substr(i));
    std::string other = name;
    other[i] = static_cast<char>(std::isupper(other[i]) ? std::tolower(other[i]) : std::toupper(other[i]));
    mutations.insert(other);
    other = name;
    std::swap(other[i], other[i + 1 < name.size() ? i + 1 : i]);
    mutations.insert(other);
  }
  mutations.insert(name + " ");
  return mutations;
}

bool isKnown(const ConfigKey &key, const std::string &name) {
  for (const ConfigKey *sibling : keysOf(key.section))
    if (sibling->name == name && sibling->existsFor(typeOf(key)))
      return true;
  return false;
}

TEST(ConfigKeys, RowsAreWellFormed) {
  std::set<std::string> seen;
  for (const ConfigKey &key : configKeys()) {
    EXPECT_FALSE(key.meaning.empty()) << key.path;
    Json usual = Json::parse(key.defaultText, nullptr, false);
    EXPECT_FALSE(usual.is_discarded()) << key.path;
    EXPECT_TRUE(usual.is_null() || usual == "auto" || checkValue(key, usual).empty()) << key.path;
    for (const std::string &value : key.harmless) {
      Json json = Json::parse(value);
      EXPECT_TRUE(checkValue(key, json).empty()) << key.path << " " << value;
    }
    for (const std::string &type : key.types.empty() ? std::vector<std::string>{""} : key.types)
      EXPECT_TRUE(seen.insert(key.path + "@" + type).second) << key.path;
  }
  EXPECT_GT(seen.size(), 300u);
}

TEST(ConfigKeys, EveryMisspellingIsFound) {
  size_t count = 0;
  for (const ConfigKey &key : configKeys())
    for (const std::string &name : mutationsOf(key.name)) {
      if (isKnown(key, name))
        continue;
      const Json document = documentWith(key.section, typeOf(key), {{name, Json::parse(key.defaultText)}});
      const auto config = parseTrainingConfig(document.dump(), "c.json");
      ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << document;
      EXPECT_NE(config.status().message().find("did you mean"), absl::string_view::npos) << config.status();
      ++count;
    }
  EXPECT_GT(count, 10000u);
}

TEST(ConfigKeys, EveryWrongTypeIsFound) {
  for (const ConfigKey &key : configKeys())
    for (Json value :
         {Json(true), Json(7), Json(1.5), Json("zzz"), Json::array({Json::object()}), Json({{"zzz", "z"}})}) {
      if (Json copy = value; checkValue(key, copy).empty())
        continue;
      const auto config = parseTrainingConfig(documentWith(key, value).dump(), "c.json");
      ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << key.path << " " << value;
      EXPECT_NE(config.status().message().find('"' + key.path), absl::string_view::npos) << config.status();
    }
}

TEST(ConfigKeys, DefaultsAreAccepted) {
  for (const ConfigKey &key : configKeys()) {
    if (key.isRequired || key.name == "cycle_momentum" || key.section == "model.loss")
      continue;
    const auto config = parseTrainingConfig(documentWith(key, Json::parse(key.defaultText)).dump(), "c.json");
    if (key.section == "zero_optimization.zenflow" || key.section == "zero_optimization.zeropp_loco_param" ||
        key.section == "sparse_attention") // refused as a whole
      EXPECT_EQ(config.status().code(), absl::StatusCode::kUnimplemented) << key.path;
    else
      EXPECT_TRUE(config.ok()) << config.status();
  }
}

TEST(ConfigKeys, EveryOtherValueHasAnEffectOrIsReported) {
  for (const ConfigKey &key : configKeys()) {
    if (key.kind == KeyKind::Section || key.isRequired || key.section == "model.loss")
      continue;
    const std::vector<Json> values = otherValues(key);
    EXPECT_FALSE(values.empty()) << key.path;
    std::string usual;
    if (const auto config = parseTrainingConfig(documentWith(key, Json::parse(key.defaultText)).dump(), "");
        config.ok())
      usual = printTrainingConfig(*config);
    for (const Json &value : values) {
      const auto config = parseTrainingConfig(documentWith(key, value).dump(), "c.json");
      if (config.status().code() == absl::StatusCode::kUnimplemented) {
        EXPECT_NE(key.status, KeyStatus::NoEffect) << config.status();
        continue;
      }
      if (key.name == "nesterov" || isHarmless(key, value))
        continue;
      ASSERT_TRUE(config.ok()) << config.status();
      const std::vector<std::string> &idle = config->keysWithoutEffect;
      EXPECT_TRUE(printTrainingConfig(*config) != usual || std::count(idle.begin(), idle.end(), key.path))
          << key.path << " " << value;
    }
  }
}

/// Whether a run reads the key anew: what belongs to the learning rate and to printing.
bool isForRuns(const ConfigKey &key) {
  return key.path.rfind("scheduler", 0) == 0 || key.name == "lr" || key.name == "torch_adam" ||
         key.name == "steps_per_print";
}

TEST(ConfigKeys, EveryPlannedKeyIsCompared) {
  size_t compared = 0;
  for (const ConfigKey &key : configKeys()) {
    if (key.status != KeyStatus::Honoured || !key.field || key.isRequired || key.section == "model.loss")
      continue;
    const auto usual = parseTrainingConfig(documentWith(key, Json::parse(key.defaultText)).dump(), "c.json");
    for (const Json &value : otherValues(key)) {
      auto other = parseTrainingConfig(documentWith(key, value).dump(), "c.json");
      if (!usual.ok() || !other.ok() || printTrainingConfig(*other) == printTrainingConfig(*usual))
        continue;
      TrainingConfig before = *usual;
      if (key.path != "train_batch_size")
        for (TrainingConfig *config : {&before, &*other})
          config->batch.train = 308; // of which all values of the other sizes are divisors
      else
        before.batch.train = 5;
      const auto differences = plannedDifferences(before, *other, 1);
      if (!differences.ok()) // a size that does not divide the batch
        continue;
      const auto names = [&](const PlannedDifference &difference) { return difference.key == key.path; };
      const bool isNamed = std::any_of(differences->begin(), differences->end(), names);
      const bool isCompleted = key.path == "gradient_accumulation_steps" && value == 1; // what is taken without it
      const bool isOfBatch = key.path == "train_micro_batch_size_per_gpu" && !differences->empty(); // by the others
      EXPECT_EQ(isNamed || isOfBatch, !isForRuns(key) && !isCompleted) << key.path << " " << value;
      ++compared;
    }
  }
  EXPECT_GT(compared, 60u);
}

TEST(ConfigKeys, NumbersBeyondFloatsAreNamed) {
  for (const ConfigKey &key : configKeys()) {
    if (key.kind != KeyKind::Number && key.kind != KeyKind::NumberPair)
      continue;
    const Json value = key.kind == KeyKind::Number ? Json(1e39) : Json::array({0.5, -1e39});
    const auto config = parseTrainingConfig(documentWith(key, value).dump(), "c.json");
    ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << key.path;
    EXPECT_NE(config.status().message().find('"' + key.path + "\" must fit a 32-bit float"), absl::string_view::npos)
        << config.status();
  }
}

TEST(ConfigKeys, RefusedKeysAreRefusedByName) {
  for (const ConfigKey &key : configKeys()) {
    if (key.status != KeyStatus::Refused || key.kind == KeyKind::Section)
      continue;
    const auto section = std::find_if(configKeys().begin(), configKeys().end(),
                                      [&](const ConfigKey &row) { return row.path == key.section; });
    if (section != configKeys().end() && section->status == KeyStatus::Refused && section->gate != key.name)
      continue; // judged with its section
    for (const Json &value : otherValues(key)) {
      if (isHarmless(key, value))
        continue;
      const auto config = parseTrainingConfig(documentWith(key, value).dump(), "c.json");
      ASSERT_EQ(config.status().code(), absl::StatusCode::kUnimplemented) << key.path << " " << value;
      EXPECT_NE(config.status().message().find('"' + key.path + '"'), absl::string_view::npos) << config.status();
    }
  }
}

TEST(ConfigKeys, PrintedSettingsReadTheSame) {
  std::mt19937 random(11);
  const auto chance = [&](unsigned outOf) { return random() % outOf == 0; };
  for (int i = 0; i < 200; ++i) {
    const char *optimizers[] = {"Adam", "AdamW", "SGD"};
    const char *schedulers[] = {"WarmupLR", "WarmupDecayLR", "WarmupCosineLR", "LRRangeTest", "OneCycle"};
    Json document = {{"optimizer", {{"type", optimizers[random() % 3]}, {"params", Json::object()}}},
                     {"scheduler", {{"type", schedulers[random() % 5]}, {"params", Json::object()}}}};
    for (const ConfigKey &key : configKeys()) {
      if (!key.field || key.name == "type" || key.name == "output" || key.name == "nesterov")
        continue;
      std::string pointer = "/" + key.path;
      std::replace(pointer.begin(), pointer.end(), '.', '/');
      const std::string type =
          key.types.empty() ? "" : document[key.section.substr(0, key.section.find('.'))]["type"].get<std::string>();
      const std::vector<Json> values = otherValues(key);
      if (key.existsFor(type) && (key.isRequired || key.name == "logits" || chance(2)))
        document[Json::json_pointer(pointer)] = values[random() % values.size()];
      if (key.name == "cycle_momentum" && key.existsFor(type))
        document[Json::json_pointer(pointer)] = false;
    }
    const auto config = parseTrainingConfig(document.dump(), "random");
    ASSERT_TRUE(config.ok()) << config.status() << document;
    const std::string printed = printTrainingConfig(*config);
    const auto again = parseTrainingConfig(printed, "printed");
    ASSERT_TRUE(again.ok()) << again.status() << printed;
    EXPECT_EQ(printTrainingConfig(*again), printed);
  }
}

/// Set DS_UPDATE_DOCS=1 to write the page instead of comparing it.
TEST(ConfigKeys, DocumentationIsCurrent) {
  const std::string path = std::string(DS_SOURCE_DIR) + "/docs/config.md";
  if (std::getenv("DS_UPDATE_DOCS"))
    std::ofstream(path) << describeConfigKeys();
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), describeConfigKeys()) << "run this test with DS_UPDATE_DOCS=1";
}

} // namespace
} // namespace ds::config
