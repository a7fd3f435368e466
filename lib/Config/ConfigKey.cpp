// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ConfigKey.h"

#include "Text.h"

#include <algorithm>
#include <map>

namespace ds::config {

bool Range::contains(double value) const {
  return (isLowOpen ? value > low : value >= low) && (isHighOpen ? value < high : value <= high);
}

std::string Range::text() const {
  const bool hasLow = low != -std::numeric_limits<double>::infinity();
  const bool hasHigh = high != std::numeric_limits<double>::infinity();
  if (hasLow && hasHigh)
    return "in " + std::string(isLowOpen ? "(" : "[") + numberText(low) + ", " + numberText(high) +
           (isHighOpen ? ")" : "]");
  if (hasLow)
    return (isLowOpen ? "> " : ">= ") + numberText(low);
  if (hasHigh)
    return (isHighOpen ? "< " : "<= ") + numberText(high);
  return "";
}

bool ConfigKey::existsFor(const std::string &type) const {
  return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

ConfigKey &Section::add(KeyKind kind, std::string name, KeyStatus status, std::string defaultText,
                        std::string meaning) {
  ConfigKey &key = rows.emplace_back();
  key.path = path.empty() ? name : path + "." + name;
  key.section = path;
  key.name = std::move(name);
  key.kind = kind;
  key.status = status;
  key.defaultText = std::move(defaultText);
  key.meaning = std::move(meaning);
  return key;
}

Section Section::open(std::string name, KeyStatus status, std::string meaning) {
  const ConfigKey &key = add(KeyKind::Section, std::move(name), status, "null", std::move(meaning));
  return Section(rows, key.path);
}

ConfigKey &Section::row() {
  return *std::find_if(rows.rbegin(), rows.rend(), [&](const ConfigKey &key) { return key.path == path; });
}

static std::deque<ConfigKey> buildTable() {
  std::deque<ConfigKey> rows;
  const Section top(rows, "");
  addTrainingKeys(top);
  addZeroKeys(top);
  addPrecisionKeys(top);
  addParallelismKeys(top);
  addMonitoringKeys(top);
  addResearchKeys(top);
  return rows;
}

const std::deque<ConfigKey> &configKeys() {
  static const std::deque<ConfigKey> table = buildTable();
  return table;
}

static std::map<std::string, std::vector<const ConfigKey *>> buildIndex() {
  std::map<std::string, std::vector<const ConfigKey *>> index;
  for (const ConfigKey &key : configKeys())
    index[key.section].push_back(&key);
  return index;
}

const std::vector<const ConfigKey *> &keysOf(const std::string &section) {
  static const std::map<std::string, std::vector<const ConfigKey *>> index = buildIndex();
  static const std::vector<const ConfigKey *> none;
  const auto found = index.find(section);
  return found == index.end() ? none : found->second;
}

} // namespace ds::config
