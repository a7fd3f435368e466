// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How long two ranks of this machine take to gather from each other.

#ifndef DS_TOOLS_DS_RUN_TIMEGATHERS_H
#define DS_TOOLS_DS_RUN_TIMEGATHERS_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace ds {

/// The median seconds of an all-gather in which each of two ranks receives so many bytes, for each of `sizes`. The
/// ranks are processes on the first two of `cores`, forked here: the caller must have one thread.
absl::StatusOr<std::vector<double>> timeGathers(const std::vector<int64_t> &sizes, const std::vector<int> &cores);

} // namespace ds

#endif // DS_TOOLS_DS_RUN_TIMEGATHERS_H
