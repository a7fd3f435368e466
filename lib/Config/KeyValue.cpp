// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "KeyValue.h"

#include "Text.h"

#include "ds/Config/NearestWord.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ds::config {

std::string valueText(const Json &value) {
  if (value.is_object())
    return value.empty() ? "{}" : "an object";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string expectation(const ConfigKey &key) {
  const std::string range = key.range.text().empty() ? "" : " " + key.range.text();
  switch (key.kind) {
  case KeyKind::Section:
  case KeyKind::Object:
    return "an object";
  case KeyKind::Boolean:
    return "true or false";
  case KeyKind::Integer:
    return "an integer" + range;
  case KeyKind::Number:
    return "a number" + range;
  case KeyKind::String:
    return "a string";
  case KeyKind::Choice:
    return alternatives(key.choices);
  case KeyKind::NumberPair:
    return "a list of two numbers" + range;
  case KeyKind::IntegerList:
    return "a list of integers" + range;
  case KeyKind::StringList:
    return "a list of strings";
  case KeyKind::StringGroups:
    return "a list of lists of strings";
  case KeyKind::IntegerMap:
    return "an object of integers" + range;
  case KeyKind::Any:
    return "any value";
  }
  return "";
}

static bool isInteger(const ConfigKey &key, const Json &value) {
  const std::optional<int64_t> integer = integerIn(value);
  return integer && key.range.contains(static_cast<double>(*integer));
}

static bool isNumber(const ConfigKey &key, const Json &value) {
  return value.is_number() && key.range.contains(value.get<double>());
}

template <typename Predicate> static bool isListOf(const Json &value, Predicate holds) {
  return value.is_array() && std::all_of(value.begin(), value.end(), holds);
}

/// Whether `value` is one of `words`; if so it gets that spelling.
static bool isWord(const std::vector<std::string> &words, bool ignoresCase, Json &value) {
  if (!value.is_string())
    return false;
  const std::string &written = value.get_ref<const std::string &>();
  for (const std::string &word : words) {
    if (word != written && !(ignoresCase && lowerCase(word) == lowerCase(written)))
      continue;
    value = word;
    return true;
  }
  return false;
}

static bool hasRightForm(const ConfigKey &key, Json &value) {
  const auto isString = [](const Json &item) { return item.is_string(); };
  const auto isGoodInteger = [&](const Json &item) { return isInteger(key, item); };
  switch (key.kind) {
  case KeyKind::Section:
  case KeyKind::Object:
    return value.is_object();
  case KeyKind::Boolean:
    return value.is_boolean();
  case KeyKind::Integer:
    return isInteger(key, value);
  case KeyKind::Number:
    return isNumber(key, value);
  case KeyKind::String:
    return value.is_string();
  case KeyKind::Choice:
    return isWord(key.choices, key.ignoresCase, value) || isWord(key.refusedChoices, key.ignoresCase, value);
  case KeyKind::NumberPair:
    return value.size() == 2 && isListOf(value, [&](const Json &item) { return isNumber(key, item); });
  case KeyKind::IntegerList:
    return isListOf(value, isGoodInteger);
  case KeyKind::StringList:
    return isListOf(value, isString);
  case KeyKind::StringGroups:
    return isListOf(value, [&](const Json &group) { return isListOf(group, isString); });
  case KeyKind::IntegerMap:
    return value.is_object() && std::all_of(value.begin(), value.end(), isGoodInteger);
  case KeyKind::Any:
    return true;
  }
  return false;
}

/// The first member or item that is wrong, as ".name" or "[0]" and its value, for messages.
static std::string firstWrongItem(const ConfigKey &key, const Json &value) {
  if (key.kind == KeyKind::IntegerMap && value.is_object())
    for (const auto &[name, item] : value.items())
      if (!isInteger(key, item))
        return valueText(item) + " for \"" + printable(name) + '"';
  return valueText(value);
}

/// The first number in `value` that is infinite in the programs, which compute in 32-bit floats.
static const Json *findBeyondFloat(const ConfigKey &key, const Json &value) {
  if (key.kind == KeyKind::Number && value.is_number())
    return std::abs(value.get<double>()) > std::numeric_limits<float>::max() ? &value : nullptr;
  if (key.kind == KeyKind::NumberPair && value.is_array())
    for (const Json &item : value)
      if (item.is_number() && std::abs(item.get<double>()) > std::numeric_limits<float>::max())
        return &item;
  return nullptr;
}

std::string checkValue(const ConfigKey &key, Json &value) {
  if (const Json *number = findBeyondFloat(key, value))
    return "must fit a 32-bit float, at most 3.4e38 in magnitude, got " + valueText(*number);
  if (hasRightForm(key, value))
    return "";
  std::string text = "must be " + expectation(key) + ", got " + firstWrongItem(key, value);
  if (key.kind != KeyKind::Choice || !value.is_string())
    return text;
  std::vector<std::string> words = key.choices;
  words.insert(words.end(), key.refusedChoices.begin(), key.refusedChoices.end());
  const std::string nearest = nearestWord(value.get_ref<const std::string &>(), words);
  return nearest.empty() ? text : text + ", did you mean \"" + nearest + "\"?";
}

bool isRefusedChoice(const ConfigKey &key, const Json &value) {
  return key.kind == KeyKind::Choice &&
         std::find(key.refusedChoices.begin(), key.refusedChoices.end(), value) != key.refusedChoices.end();
}

/// Whether an object without known keys is switched off: empty, `enabled` false, or all its objects are so. DeepSpeed's
/// compression keeps `enabled` in `shared_parameters`.
static bool isSwitchedOff(const Json &object) {
  if (!object.is_object())
    return false;
  if (object.contains("enabled"))
    return object["enabled"] == false;
  if (object.contains("shared_parameters"))
    return isSwitchedOff(object["shared_parameters"]);
  return std::all_of(object.begin(), object.end(), isSwitchedOff);
}

bool isHarmless(const ConfigKey &key, const Json &value) {
  if (key.kind == KeyKind::Object && isSwitchedOff(value))
    return true;
  const auto equals = [&](const std::string &text) { return Json::parse(text) == value; };
  return equals(key.defaultText) || std::any_of(key.harmless.begin(), key.harmless.end(), equals);
}

} // namespace ds::config
