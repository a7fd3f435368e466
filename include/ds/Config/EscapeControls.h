// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Text from files on its way to a terminal.

#ifndef DS_CONFIG_ESCAPECONTROLS_H
#define DS_CONFIG_ESCAPECONTROLS_H

#include <string>
#include <string_view>

namespace ds {

/// `text` with every byte that could steer a terminal, or that is no UTF-8, written as \xNN; new lines and tabs stay.
/// Names in models, plans and data are chosen by others: all tools print messages through this.
std::string escapeControls(std::string_view text);

} // namespace ds

#endif // DS_CONFIG_ESCAPECONTROLS_H
