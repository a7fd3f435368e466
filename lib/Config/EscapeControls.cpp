// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Config/EscapeControls.h"

#include <algorithm>
#include <cstdint>

namespace ds {

namespace {
/// A character in UTF-8.
struct Character {
  size_t bytes = 0; ///< 0: it is none
  uint32_t code = 0;
};
} // namespace

/// The character that `text`, which must not be empty, begins with.
static Character firstCharacter(std::string_view text) {
  constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; // by length: shorter ones must be written shorter
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  if (bytes == 0 || bytes > text.size())
    return {};
  uint32_t code = bytes == 1 ? lead : lead & (0xff >> (bytes + 1));
  for (const char c : text.substr(1, bytes - 1)) {
    if ((c & 0xc0) != 0x80)
      return {};
    code = code << 6 | (c & 0x3f);
  }
  const bool isCode = code >= smallest[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCode ? Character{bytes, code} : Character();
}

/// Controls of both sets, and those that turn the direction of the text around.
static bool isControl(uint32_t code) {
  if (code == '\n' || code == '\t')
    return false;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escapeControls(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const Character character = firstCharacter(text);
    const size_t bytes = std::max<size_t>(1, character.bytes);
    for (const char c : text.substr(0, bytes)) {
      const auto byte = static_cast<unsigned char>(c);
      if (character.bytes != 0 && !isControl(character.code))
        result += c;
      else
        result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
    text.remove_prefix(bytes);
  }
  return result;
}

} // namespace ds
