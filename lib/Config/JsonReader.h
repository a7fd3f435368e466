// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Strict JSON: no duplicate keys, comments, trailing commas, NaN or Infinity; at most 64 levels deep.

#ifndef DS_LIB_CONFIG_JSONREADER_H
#define DS_LIB_CONFIG_JSONREADER_H

#include "absl/status/statusor.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ds::config {

/// Reads one JSON value; a UTF-8 byte order mark may stand before it. `fileName` is for messages only. Fails with
/// InvalidArgument, file, line, column and JSON path.
absl::StatusOr<nlohmann::json> readJson(std::string_view text, std::string_view fileName);

} // namespace ds::config

#endif // DS_LIB_CONFIG_JSONREADER_H
