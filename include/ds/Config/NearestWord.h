// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a misspelt word may have meant.

#ifndef DS_CONFIG_NEARESTWORD_H
#define DS_CONFIG_NEARESTWORD_H

#include <string>
#include <string_view>
#include <vector>

namespace ds::config {

/// The word of `words` nearest to `wrong` regardless of case, or an empty string if none is near: at most a third of
/// the letters, or two, may differ.
std::string nearestWord(std::string_view wrong, const std::vector<std::string> &words);

} // namespace ds::config

#endif // DS_CONFIG_NEARESTWORD_H
