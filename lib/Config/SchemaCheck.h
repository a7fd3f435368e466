// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A document against the table of keys.

#ifndef DS_LIB_CONFIG_SCHEMACHECK_H
#define DS_LIB_CONFIG_SCHEMACHECK_H

#include "ConfigKey.h"

#include <map>
#include <string>
#include <vector>

namespace ds::config {

/// What the document says, and what is wrong with it.
struct CheckedDocument {
  /// Path -> value of the keys that are written, choices in canonical spelling; without null and "auto".
  std::map<std::string, Json> values;
  std::vector<std::string> withoutEffect; ///< paths of written keys that change nothing
  std::vector<std::string> invalid;       ///< messages, without the file's name
  std::vector<std::string> unsupported;   ///< likewise

  bool has(const std::string &path) const { return values.count(path) > 0; }
};

CheckedDocument checkDocument(const Json &document);

/// The value of the selector of `section` in the document: which keys there are. Empty if there is none.
std::string selectedType(const ConfigKey &section, const std::map<std::string, Json> &values);

} // namespace ds::config

#endif // DS_LIB_CONFIG_SCHEMACHECK_H
