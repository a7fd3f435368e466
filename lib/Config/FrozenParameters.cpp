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

absl::StatusOr<std::vector<std::string>> frozenParameters(const TrainingConfig &config,
                                                          const std::vector<std::string> &parameters) {
  std::vector<bool> isFrozen(parameters.size(), false);
  for (const std::string &pattern : config.model.frozen) {
    const std::optional<std::regex> expression = compileExpression(pattern);
    bool matches = false;
    for (size_t i = 0; expression && i < parameters.size(); ++i)
      if (std::regex_match(parameters[i], *expression))
        matches = isFrozen[i] = true;
    if (!matches)
      return absl::InvalidArgumentError("\"model.frozen\" must match parameters, got \"" + printable(pattern) +
                                        "\", which matches none of " + std::to_string(parameters.size()));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (isFrozen[i])
      names.push_back(parameters[i]);
  return names;
}

} // namespace ds
