// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "SchemaCheck.h"

#include "KeyValue.h"
#include "Text.h"

#include "ds/Config/NearestWord.h"

#include <algorithm>

namespace ds::config {
namespace {

/// How a section stands to its keys.
struct Context {
  std::string section;
  std::string type;                ///< value of the section's selector
  std::string meaning;             ///< the section's, for its gate
  bool takesAuto = false;          ///< "auto" means the default
  bool refusalsCount = true;       ///< false: the section as a whole is refused already
  const ConfigKey *gate = nullptr; ///< the key that is judged for all keys of the section
};

class Checker {
public:
  CheckedDocument document;

  void checkSection(const Json &object, const Context &context) {
    for (const auto &[name, value] : object.items()) {
      if (const ConfigKey *key = findKey(name, context))
        checkKey(*key, value, object, context);
      else
        document.invalid.push_back(unknownKey(name, context));
    }
    for (const ConfigKey *key : keysOf(context.section)) {
      if (object.contains(key->name) || !key->existsFor(context.type))
        continue;
      if (key->isRequired)
        document.invalid.push_back('"' + key->path + "\" must be given" + requirementText(*key, context));
      if (!key->selector.empty())
        checkSubsection(*key, Json::object(), object, context); // it may have required keys
    }
  }

private:
  static const ConfigKey *findKey(const std::string &name, const Context &context) {
    for (const ConfigKey *key : keysOf(context.section))
      if (key->name == name && key->existsFor(context.type))
        return key;
    return nullptr;
  }

  static std::string requirementText(const ConfigKey &key, const Context &context) {
    return key.types.empty() ? ": " + key.meaning : " for \"" + context.type + "\": " + key.meaning;
  }

  void checkKey(const ConfigKey &key, const Json &value, const Json &siblings, const Context &context) {
    if (key.kind == KeyKind::Section)
      return checkSubsection(key, value, siblings, context);
    const bool isDefault = (value == "auto" && (context.takesAuto || key.defaultText == "\"auto\"")) ||
                           (value.is_null() && key.defaultText == "null");
    if (isDefault && !key.isRequired) {
      if (key.status == KeyStatus::NoEffect)
        document.withoutEffect.push_back(key.path);
      return;
    }
    Json canonical = value;
    if (std::string problem = checkValue(key, canonical); !problem.empty()) {
      if (value == "auto")
        problem += ": only the Hugging Face Trainer knows what to put here";
      document.invalid.push_back('"' + key.path + "\" " + problem);
      return;
    }
    judge(key, canonical, context);
    document.values[key.path] = std::move(canonical);
  }

  void judge(const ConfigKey &key, const Json &value, const Context &context) {
    const bool isJudged = context.refusalsCount && (!context.gate || context.gate == &key);
    const bool isRefused = isRefusedChoice(key, value) || (key.status == KeyStatus::Refused && !isHarmless(key, value));
    if (isRefused && isJudged)
      document.unsupported.push_back(refusal(key, value, context.gate ? context.meaning : key.meaning));
    else if (isRefused || key.status == KeyStatus::NoEffect)
      document.withoutEffect.push_back(key.path);
  }

  void checkSubsection(const ConfigKey &key, const Json &value, const Json &siblings, const Context &context) {
    if (value.is_null() && !key.selector.empty())
      return checkSubsection(key, Json::object(), siblings, context);
    if (value.is_null() || (value == "auto" && context.takesAuto))
      return;
    if (!value.is_object()) {
      document.invalid.push_back('"' + key.path + "\" must be an object, got " + valueText(value));
      return;
    }
    Context inner;
    inner.section = key.path;
    inner.meaning = key.meaning;
    inner.takesAuto = key.takesAuto || context.takesAuto;
    inner.refusalsCount = context.refusalsCount;
    if (!key.selector.empty() && !selectType(key, siblings, context, inner))
      return;
    if (!key.gate.empty())
      setGate(key, inner);
    else if (key.status == KeyStatus::Refused && !value.empty()) {
      if (inner.refusalsCount)
        document.unsupported.push_back('"' + key.path + "\" must be absent in this version: " + key.meaning);
      inner.refusalsCount = false;
    }
    checkSection(value, inner);
  }

  /// Sets the type of `inner` by the sibling that selects it. False if the keys cannot be known.
  bool selectType(const ConfigKey &section, const Json &siblings, const Context &outer, Context &inner) {
    const ConfigKey *selector = findKey(section.selector, outer);
    if (!siblings.contains(section.selector))
      return false;
    Json type = siblings[section.selector];
    if (!checkValue(*selector, type).empty() || isRefusedChoice(*selector, type))
      return false;
    inner.type = type.get<std::string>();
    return true;
  }

  /// Of a section with a gate only the gate is judged, and nothing if it is shut.
  static void setGate(const ConfigKey &section, Context &inner) {
    for (const ConfigKey *key : keysOf(section.path))
      if (key->name == section.gate)
        inner.gate = key;
  }

  static std::string refusal(const ConfigKey &key, const Json &value, const std::string &meaning) {
    std::string text = '"' + key.path + "\" ";
    if (isRefusedChoice(key, value))
      return text + "must be " + alternatives(key.choices) + " in this version, got " + valueText(value);
    if (key.defaultText == "null" && key.harmless.empty())
      return text + "must be absent in this version, got " + valueText(value) + ": " + meaning;
    std::string allowed = key.defaultText == "null" ? "absent" : key.defaultText;
    for (const std::string &other : key.harmless)
      allowed += " or " + other;
    return text + "must be " + allowed + " in this version, got " + valueText(value) + ": " + meaning;
  }

  static std::string unknownKey(const std::string &name, const Context &context) {
    const std::string prefix = context.section.empty() ? "" : context.section + ".";
    const std::string text = "unknown key \"" + prefix + printable(name) + '"';
    std::vector<std::string> siblings;
    for (const ConfigKey *key : keysOf(context.section))
      if (key->existsFor(context.type))
        siblings.push_back(key->name);
    const std::string forType = context.type.empty() ? "" : " for \"" + context.type + '"';
    if (const std::string nearest = nearestWord(name, siblings); !nearest.empty())
      return text + forType + ", did you mean \"" + prefix + nearest + "\"?";
    for (const ConfigKey &key : configKeys())
      if (lowerCase(key.name) == lowerCase(name) && key.existsFor(context.type))
        return text + forType + ", did you mean \"" + key.path + "\"?";
    return text + forType;
  }
};

} // namespace

CheckedDocument checkDocument(const Json &document) {
  Checker checker;
  if (document.is_object())
    checker.checkSection(document, Context());
  else
    checker.document.invalid.push_back("the file must hold a JSON object, got " + valueText(document));
  std::vector<std::string> &paths = checker.document.withoutEffect;
  std::sort(paths.begin(), paths.end());
  return std::move(checker.document);
}

std::string selectedType(const ConfigKey &section, const std::map<std::string, Json> &values) {
  const auto found = values.find(section.section + "." + section.selector);
  return found == values.end() ? "" : found->second.get<std::string>();
}

} // namespace ds::config
