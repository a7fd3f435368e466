// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Looks for numbers that are none.

#ifndef DS_RUNTIME_DEVICE_NONFINITE_H
#define DS_RUNTIME_DEVICE_NONFINITE_H

#include "ds/Plan/Schema.h"

#include <cstdint>

namespace ds::runtime {

/// How many elements of a tensor are NaN, and how many infinite.
struct NonFiniteCount {
  int64_t nans = 0;
  int64_t infinities = 0;
};

/// Counts among `count` elements at `data`; none in types that are no floats. Reads the memory once.
NonFiniteCount countNonFinite(plan::DataType type, const void *data, int64_t count);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_NONFINITE_H
