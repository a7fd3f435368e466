// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// One value against the row of its key.

#ifndef DS_LIB_CONFIG_KEYVALUE_H
#define DS_LIB_CONFIG_KEYVALUE_H

#include "ConfigKey.h"

namespace ds::config {

/// "an integer >= 0", "one of "log" or "linear"": what values of the key look like.
std::string expectation(const ConfigKey &key);

/// Checks `value`, and gives a choice its canonical spelling. Returns "must be ..., got ..." or an empty string.
std::string checkValue(const ConfigKey &key, Json &value);

/// Whether `value` is a choice that DeepSpeed has and we do not.
bool isRefusedChoice(const ConfigKey &key, const Json &value);

/// Whether a checked `value` of a refused key asks for nothing: the default, what is equal to it, or a section of any
/// depth that is switched off.
bool isHarmless(const ConfigKey &key, const Json &value);

/// A value as a message shows it.
std::string valueText(const Json &value);

} // namespace ds::config

#endif // DS_LIB_CONFIG_KEYVALUE_H
