// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How much memory a process may still take.

#ifndef DS_RUNTIME_DEVICE_AVAILABLEMEMORY_H
#define DS_RUNTIME_DEVICE_AVAILABLEMEMORY_H

#include "absl/status/status.h"

#include <cstdint>
#include <string>

namespace ds::runtime {

/// The tightest of the limits on this process.
struct AvailableMemory {
  int64_t bytes = INT64_MAX;
  std::string limit; ///< what sets it, behind "got N bytes": "available on this machine"
};

/// The least of what the machine can give without swapping, what the cgroups of the process leave, and what its limit
/// of address space (ulimit -v) leaves. Limits that the system does not tell do not count.
AvailableMemory availableMemory();

/// Fails with memoryError, with both numbers, unless `bytes` are available for `what`.
absl::Status checkAvailable(int64_t bytes, const std::string &what);

/// How many processes the system has killed for want of memory since it was started, those of other users included; 0
/// if it does not say.
int64_t outOfMemoryKills();

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_AVAILABLEMEMORY_H
