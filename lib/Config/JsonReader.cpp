// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "JsonReader.h"

#include "Text.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ds::config {
namespace {

using Json = nlohmann::json;

constexpr size_t maxDepth = 64;

/// Builds the value from the parser's events. Returning false stops the parser.
class Builder : public nlohmann::json_sax<Json> {
public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string &) override { return add(value); }
  bool string(std::string &value) override { return add(std::move(value)); }
  bool binary(Json::binary_t &) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string &name) override {
    const bool isNew = !levels.back().value.contains(name);
    levels.back().key = std::move(name);
    return isNew || fail("must be written once, got a duplicate key");
  }

  bool parse_error(size_t position, const std::string &lastToken, const nlohmann::detail::exception &error) override {
    errorPosition = position;
    errorToken = lastToken;
    isOutOfRange = error.id == 406;
    return false;
  }

  Json result;
  std::string problem;      ///< of ours; the parser's is the position below
  size_t errorPosition = 0; ///< bytes read, 0: no parse error
  std::string errorToken;
  bool isOutOfRange = false; ///< the token is a number too large for a double

  /// The JSON path of the value that is being read.
  std::string path() const {
    std::string path;
    for (const Level &level : levels) {
      if (level.value.is_array())
        path += "[" + std::to_string(level.value.size()) + "]";
      else if (!level.key.empty())
        path += (path.empty() ? "" : ".") + printable(level.key);
    }
    return path;
  }

private:
  struct Level {
    Json value;
    std::string key; ///< the last one, of an object
  };

  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }

  bool add(Json value) {
    if (levels.empty())
      result = std::move(value);
    else if (Level &level = levels.back(); level.value.is_array())
      level.value.push_back(std::move(value));
    else
      level.value[level.key] = std::move(value);
    return true;
  }

  bool open(Json value) {
    if (levels.size() == maxDepth)
      return fail("must be nested at most " + std::to_string(maxDepth) + " levels deep");
    levels.push_back({std::move(value), ""});
    return true;
  }

  bool close() {
    Json value = std::move(levels.back().value);
    levels.pop_back();
    return add(std::move(value));
  }

  std::vector<Level> levels;
};

} // namespace

static std::string lineAndColumn(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n');
  const size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return std::to_string(line) + ":" + std::to_string(column);
}

/// The start of the token whose last byte that the parser has read is at `offset`.
static size_t startOfToken(std::string_view text, size_t offset) {
  constexpr std::string_view wordCharacters = "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (text[offset] == '"' && offset > 0) {
    const size_t quote = text.rfind('"', offset - 1);
    return quote == std::string_view::npos ? offset : quote;
  }
  while (offset > 0 && wordCharacters.find(text[offset]) != std::string_view::npos &&
         wordCharacters.find(text[offset - 1]) != std::string_view::npos)
    --offset;
  return offset;
}

/// Says what is wrong with the token at byte `offset`.
static std::string describeSyntaxError(std::string_view text, size_t offset) {
  const size_t last = text.substr(0, offset).find_last_not_of(" \t\r\n");
  const std::string_view rest = text.substr(offset);
  if (rest.empty())
    return last == std::string_view::npos ? "must be a JSON object, got an empty file"
                                          : "must be complete, got the end of the file";
  if (last != std::string_view::npos && text[last] == ',' && (rest[0] == '}' || rest[0] == ']'))
    return "must have no trailing comma";
  if (rest[0] == '/' || rest[0] == '#')
    return "must have no comment: JSON has none";
  for (const std::string_view word : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "-NaN", "+"})
    if (rest.substr(0, word.size()) == word)
      return "must be a JSON value, got " + std::string(word) + ", which JSON does not have";
  return "must be valid JSON, got \"" + printable(rest.substr(0, rest.find_first_of("\r\n")), 20) + "\"";
}

static std::string describeError(const Builder &builder, std::string_view text, std::string_view fileName) {
  const std::string path = builder.path();
  const std::string where = path.empty() ? "the file" : '"' + path + '"';
  const std::string file = printable(fileName, 200);
  if (builder.errorPosition == 0)
    return file + ": " + where + " " + builder.problem;
  if (builder.isOutOfRange)
    return file + ": " + where + " must be a finite number, got " + printable(builder.errorToken, 20);
  const size_t offset =
      builder.errorPosition > text.size() ? text.size() : startOfToken(text, builder.errorPosition - 1);
  return file + ":" + lineAndColumn(text, offset) + ": " + where + " " + describeSyntaxError(text, offset);
}

absl::StatusOr<Json> readJson(std::string_view text, std::string_view fileName) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    text.remove_prefix(3);
  Builder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder))
    return absl::InvalidArgumentError(describeError(builder, text, fileName));
  return std::move(builder.result);
}

} // namespace ds::config
