// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The geometry of convolutions and pools.

#ifndef DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H
#define DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H

#include "LibraryTask.h"

namespace ds::runtime {

/// One spatial dim.
struct WindowDim {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, padBegin = 0, padEnd = 0, dilation = 1;
};

/// The spatial dims of a convolution or pool. Fails if a size is not positive or does not follow from the others.
absl::StatusOr<std::vector<WindowDim>> resolveWindow(const LibraryOperands &operands);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H
