// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The regular expressions over names, such as those of `model.frozen`.

#ifndef DS_LIB_CONFIG_EXPRESSION_H
#define DS_LIB_CONFIG_EXPRESSION_H

#include <string>

namespace ds::config {

/// Whether `pattern` is an ECMAScript regular expression of at most 1000 bytes.
bool isExpression(const std::string &pattern);

} // namespace ds::config

#endif // DS_LIB_CONFIG_EXPRESSION_H
