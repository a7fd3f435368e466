// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The geometry of convolutions and pools.

#ifndef DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H
#define DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace ds::runtime {

/// One spatial dim.
struct WindowDim {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, padBegin = 0, padEnd = 0, dilation = 1;
};

/// The spatial dims from `ints` as Library.h lists them, and the sizes in and out (S each). Fails if a size is not
/// positive or does not follow from the others.
absl::StatusOr<std::vector<WindowDim>> resolveWindow(const std::vector<int64_t> &ints, const std::vector<int64_t> &in,
                                                     const std::vector<int64_t> &out);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H
