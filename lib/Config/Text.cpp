// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "Text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace ds::config {

std::string numberText(double number) {
  if (std::abs(number) < 1e15 && number == std::floor(number))
    return std::to_string(static_cast<int64_t>(number));
  return nlohmann::json(number).dump();
}

std::string printable(std::string_view text, size_t limit) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      result += c;
    else
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return text.size() > limit ? result + "..." : result;
}

std::string alternatives(const std::vector<std::string> &words) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      result += i + 1 == words.size() ? " or " : ", ";
    result += '"' + words[i] + '"';
  }
  return result;
}

std::string lowerCase(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

} // namespace ds::config
