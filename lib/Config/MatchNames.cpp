// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Expression.h"
#include "Text.h"

#include "ds/Config/TrainingConfig.h"

#include <regex>

namespace ds {

using namespace config;

/// Compiles an expression. Standard expressions report errors by exceptions, which end here.
static std::optional<std::regex> compileExpression(const std::string &pattern) {
  constexpr size_t maxLength = 1000; // the standard library recurses over patterns and names
  if (pattern.size() > maxLength)
    return std::nullopt;
  try {
    return std::regex(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error &) {
    return std::nullopt;
  }
}

bool config::isExpression(const std::string &pattern) { return compileExpression(pattern).has_value(); }

/// Up to three of `names`, so that a reader sees how they are written.
static std::string examplesOf(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 3; ++i)
    text += (i == 0 ? " like \"" : ", \"") + printable(names[i]) + '"';
  return text;
}

absl::StatusOr<std::vector<bool>> matchNames(const std::string &key, const std::vector<std::string> &expressions,
                                             const std::vector<std::string> &names) {
  std::vector<bool> isMatched(names.size(), false);
  for (const std::string &pattern : expressions) {
    const std::optional<std::regex> expression = compileExpression(pattern);
    bool matches = false;
    for (size_t i = 0; expression && i < names.size(); ++i)
      if (std::regex_match(names[i], *expression))
        matches = isMatched[i] = true;
    if (!matches)
      return absl::InvalidArgumentError("\"" + key + "\" must match whole names, got \"" + printable(pattern) +
                                        "\", which matches none of the " + std::to_string(names.size()) + " there are" +
                                        examplesOf(names));
  }
  return isMatched;
}

} // namespace ds
