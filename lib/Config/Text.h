// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Words of the messages: numbers, untrusted names and lists.

#ifndef DS_LIB_CONFIG_TEXT_H
#define DS_LIB_CONFIG_TEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace ds::config {

/// A number in its shortest form: "1", "0.001", "1e-08".
std::string numberText(double number);

/// `text` fit for a message: control and non-ASCII bytes escaped as \xNN, cut after `limit` bytes.
std::string printable(std::string_view text, size_t limit = 60);

/// `"a", "b" or "c"`.
std::string alternatives(const std::vector<std::string> &words);

/// ASCII only.
std::string lowerCase(std::string_view text);

} // namespace ds::config

#endif // DS_LIB_CONFIG_TEXT_H
