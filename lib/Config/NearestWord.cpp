// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/NearestWord.h"

#include "Text.h"

#include <algorithm>

namespace ds::config {

/// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`. O(|a| * |b|).
/// Source: optimal string alignment distance (restricted Damerau-Levenshtein).
static size_t editDistance(std::string_view a, std::string_view b) {
  // Three rows of the table suffice: a swap looks two rows back.
  std::vector<size_t> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    beforeLast.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearestWord(std::string_view wrong, const std::vector<std::string> &words) {
  if (wrong.size() > 100)
    return "";
  const std::string lower = lowerCase(wrong);
  size_t nearest = std::max<size_t>(2, wrong.size() / 3) + 1;
  std::string answer;
  for (const std::string &word : words) {
    if (std::max(word.size(), lower.size()) - std::min(word.size(), lower.size()) >= nearest)
      continue;
    const size_t distance = editDistance(lower, lowerCase(word));
    if (distance < nearest && distance < word.size()) {
      nearest = distance;
      answer = word;
    }
  }
  return answer;
}

} // namespace ds::config
