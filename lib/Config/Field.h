// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Typed places in TrainingConfig, to be set from JSON and printed as JSON.

#ifndef DS_LIB_CONFIG_FIELD_H
#define DS_LIB_CONFIG_FIELD_H

#include "ds/Config/TrainingConfig.h"

#include <nlohmann/json.hpp>

#include <variant>

namespace ds::config {

using Json = nlohmann::json;

/// Two numbers of a list in the file, apart in the struct.
struct NumberPair {
  double *first;
  double *second;
};

/// A pointer into a TrainingConfig.
using Field = std::variant<bool *, int64_t *, double *, std::string *, std::optional<bool> *, std::optional<int64_t> *,
                           std::optional<double> *, std::vector<std::string> *, std::map<std::string, int64_t> *,
                           NumberPair, OptimizerKind *, SchedulerKind *, WarmupShape *, LossMean *,
                           std::optional<std::vector<std::vector<std::string>>> *>;
using FieldOf = Field (*)(TrainingConfig &);

/// The integer that `value` is, or nothing. 5e8 is an integer, up to 2^53 in magnitude.
std::optional<int64_t> integerIn(const Json &value);

/// Stores a value that has the field's type already; null resets an optional and leaves others alone.
void storeField(Field field, const Json &value);
/// The JSON that `storeField` would take.
Json loadField(Field field);

} // namespace ds::config

#endif // DS_LIB_CONFIG_FIELD_H
