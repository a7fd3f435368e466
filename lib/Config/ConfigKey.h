// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The table of all configuration keys: one row each. Reading, printing and docs/config.md are driven by it.

#ifndef DS_LIB_CONFIG_CONFIGKEY_H
#define DS_LIB_CONFIG_CONFIGKEY_H

#include "Field.h"

#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace ds::config {

/// What a value must look like. `Object` is an object without known keys, `Any` is anything.
enum class KeyKind {
  Section,
  Boolean,
  Integer,
  Number,
  String,
  Choice,
  NumberPair,
  IntegerList,
  StringList,
  StringGroups,
  IntegerMap,
  Object,
  Any
};

/// `Honoured` keys do what they say. `NoEffect` keys are accepted and change nothing. `Refused` keys may be written
/// with a value that asks for nothing (the default, or one of `harmless`).
enum class KeyStatus { Honoured, NoEffect, Refused };

/// An interval of numbers.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool isLowOpen = false;
  bool isHighOpen = false;

  bool contains(double value) const;
  /// ">= 0", "in [0, 1)", or empty for everything.
  std::string text() const;
};

/// One row of the table. The methods below the fields are for writing rows.
struct ConfigKey {
  std::string path;    ///< "zero_optimization.stage"
  std::string section; ///< "zero_optimization"
  std::string name;    ///< "stage"
  KeyKind kind = KeyKind::Any;
  KeyStatus status = KeyStatus::Honoured;
  std::string defaultText; ///< JSON; "null" if there is none
  std::string meaning;

  Range range;
  std::vector<std::string> choices;        ///< Choice: values in their canonical spelling
  std::vector<std::string> refusedChoices; ///< Choice: values that DeepSpeed has and we do not
  std::vector<std::string> harmless;       ///< Refused: JSON of further values that ask for nothing
  std::vector<std::string> types;          ///< exists only if the section's `selector` is one of these; empty: always
  bool isRequired = false;                 ///< must be written if its section is
  bool ignoresCase = false;                ///< Choice
  FieldOf field = nullptr;                 ///< its place in TrainingConfig, if any
  bool isReadByRuns = false; ///< a run reads it anew, so it may differ from the plan's; of a Section: all below, too

  std::string gate;       ///< Section: while this key of it is harmless, nothing in the section is refused
  std::string selector;   ///< Section: the sibling key whose value says which keys there are
  bool takesAuto = false; ///< Section: "auto" means the default, here and below

  ConfigKey &atLeast(double low) { return range.low = low, *this; }
  ConfigKey &above(double low) { return range.low = low, range.isLowOpen = true, *this; }
  ConfigKey &atMost(double high) { return range.high = high, *this; }
  ConfigKey &below(double high) { return range.high = high, range.isHighOpen = true, *this; }
  ConfigKey &into(FieldOf place) { return field = place, *this; }
  ConfigKey &atRunTime() { return isReadByRuns = true, *this; }
  ConfigKey &required() { return isRequired = true, *this; }
  ConfigKey &caseless() { return ignoresCase = true, *this; }
  ConfigKey &only(std::vector<std::string> forTypes) { return types = std::move(forTypes), *this; }
  ConfigKey &oneOf(std::vector<std::string> values) { return choices = std::move(values), *this; }
  ConfigKey &orRefused(std::vector<std::string> values) { return refusedChoices = std::move(values), *this; }
  ConfigKey &also(std::vector<std::string> values) { return harmless = std::move(values), *this; }

  /// Whether the key exists where the section's selector has the value `type`.
  bool existsFor(const std::string &type) const;
};

/// The place of a key in TrainingConfig.
#define DS_PLACE(member) [](TrainingConfig &config) -> Field { return &config.member; }

/// Adds the rows of one section.
class Section {
public:
  Section(std::deque<ConfigKey> &rows, std::string path) : rows(rows), path(std::move(path)) {}

  /// Adds the key `name`; `defaultText` is JSON.
  ConfigKey &add(KeyKind kind, std::string name, KeyStatus status, std::string defaultText, std::string meaning);

  ConfigKey &flag(std::string name, KeyStatus status, std::string defaultText, std::string meaning) {
    return add(KeyKind::Boolean, std::move(name), status, std::move(defaultText), std::move(meaning));
  }
  ConfigKey &integer(std::string name, KeyStatus status, std::string defaultText, std::string meaning) {
    return add(KeyKind::Integer, std::move(name), status, std::move(defaultText), std::move(meaning));
  }
  ConfigKey &number(std::string name, KeyStatus status, std::string defaultText, std::string meaning) {
    return add(KeyKind::Number, std::move(name), status, std::move(defaultText), std::move(meaning));
  }
  ConfigKey &string(std::string name, KeyStatus status, std::string defaultText, std::string meaning) {
    return add(KeyKind::String, std::move(name), status, std::move(defaultText), std::move(meaning));
  }
  ConfigKey &choice(std::string name, KeyStatus status, std::string defaultText, std::string meaning) {
    return add(KeyKind::Choice, std::move(name), status, std::move(defaultText), std::move(meaning));
  }
  /// Opens a section below this one.
  Section open(std::string name, KeyStatus status, std::string meaning);
  Section gatedBy(std::string key) { return row().gate = std::move(key), *this; }
  Section selectedBy(std::string key) { return row().selector = std::move(key), *this; }
  Section withAuto() { return row().takesAuto = true, *this; }
  Section atRunTime() { return row().isReadByRuns = true, *this; }

private:
  ConfigKey &row();

  std::deque<ConfigKey> &rows;
  std::string path; ///< empty at the top
};

/// All rows, sections before their keys.
const std::deque<ConfigKey> &configKeys();
/// The rows of the keys directly in `section` ("" for the top), whatever their `types`.
const std::vector<const ConfigKey *> &keysOf(const std::string &section);

// The groups of the table, one file each.
void addTrainingKeys(Section top);
void addZeroKeys(Section top);
void addPrecisionKeys(Section top);
void addParallelismKeys(Section top);
void addMonitoringKeys(Section top);
void addResearchKeys(Section top);

} // namespace ds::config

#endif // DS_LIB_CONFIG_CONFIGKEY_H
