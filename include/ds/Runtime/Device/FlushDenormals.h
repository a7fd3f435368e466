// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Numbers below 1.2e-38 (f32) as zeros. CPUs take 100 cycles and more for an operation on a denormal number; a softmax
/// that is sure of itself yields so many of them that the products behind it would take 20 times as long.

#ifndef DS_RUNTIME_DEVICE_FLUSHDENORMALS_H
#define DS_RUNTIME_DEVICE_FLUSHDENORMALS_H

#include <cstdint>

namespace ds::runtime {

/// While one lives, the thread that made it reads and writes denormal numbers as zeros, and so do the threads of its
/// pool from then on. On CPUs other than x86 and ARM they are what they are.
class FlushDenormals {
public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;

private:
  uint64_t before; ///< the thread's floating-point control register
};

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_FLUSHDENORMALS_H
