// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The geometry of convolutions and pools.

#ifndef DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H
#define DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H

#include "LibraryTask.h"

#include <algorithm>
#include <array>

namespace ds::runtime {

/// One spatial dim.
struct WindowDim {
  int64_t in = 1, out = 1;
  int64_t kernel = 1, stride = 1, padBegin = 0, padEnd = 0, dilation = 1;
};

/// The spatial dims of a convolution or pool. Fails if a size is not positive or does not follow from the others.
absl::StatusOr<std::vector<WindowDim>> resolveWindow(const LibraryOperands &operands);

/// A window in three dims, of which the first have one element where there are fewer.
class WindowVolume {
public:
  explicit WindowVolume(const std::vector<WindowDim> &window) {
    std::copy_backward(window.begin(), window.end(), dims.end());
  }

  int64_t inputs() const { return dims[0].in * dims[1].in * dims[2].in; }
  int64_t outputs() const { return dims[0].out * dims[1].out * dims[2].out; }
  int64_t taps() const { return dims[0].kernel * dims[1].kernel * dims[2].kernel; }

  /// Calls visit(input, kernel) with the places that meet in window `output`, padding left out; all row-major.
  template <typename Visit> void forEachTap(int64_t output, Visit visit) const {
    const int64_t row = output / dims[2].out;
    const int64_t starts[] = {startOf(0, row / dims[1].out), startOf(1, row % dims[1].out),
                              startOf(2, output % dims[2].out)};
    for (int64_t i = 0; i < dims[0].kernel; ++i)
      for (int64_t j = 0; j < dims[1].kernel; ++j) {
        const int64_t slice = starts[0] + i * dims[0].dilation, line = starts[1] + j * dims[1].dilation;
        if (slice < 0 || slice >= dims[0].in || line < 0 || line >= dims[1].in)
          continue;
        const int64_t before = (slice * dims[1].in + line) * dims[2].in,
                      tap = (i * dims[1].kernel + j) * dims[2].kernel;
        for (int64_t k = 0; k < dims[2].kernel; ++k)
          if (const int64_t at = starts[2] + k * dims[2].dilation; at >= 0 && at < dims[2].in)
            visit(before + at, tap + k);
      }
  }

private:
  int64_t startOf(size_t dim, int64_t output) const { return output * dims[dim].stride - dims[dim].padBegin; }

  std::array<WindowDim, plan::kMaxSpatialDims> dims;
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_LIBRARY_WINDOW_H
