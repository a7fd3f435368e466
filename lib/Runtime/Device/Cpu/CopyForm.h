// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// A plan::Copy as a nest of loops with strides, simplified.

#ifndef DS_RUNTIME_DEVICE_CPU_COPYFORM_H
#define DS_RUNTIME_DEVICE_CPU_COPYFORM_H

#include "ds/Runtime/Device/Task.h"

namespace ds::runtime {

/// One loop; strides in elements.
struct CopyLoop {
  int64_t size = 1;
  int64_t source = 0, target = 0;
};

/// A view as an offset plus strides.
struct StridedView {
  int64_t offset = 0;           ///< elements, of the iteration space's first point
  int64_t loopIndexStep = 0;    ///< elements to add per iteration of the plan's loop
  std::vector<int64_t> strides; ///< elements, per loop of the iteration space
};

/// Fails if a point of the iteration space, in any of `loopCount` iterations, is outside the view's buffer.
absl::StatusOr<StridedView> resolveView(const plan::ViewT &view, const std::vector<int64_t> &space,
                                        const std::vector<int64_t> &viewExtents, int64_t loopCount);

/// The loops of a copy from outermost to innermost, by falling target strides; loops of size 1 are dropped, and
/// neighbours that are one loop in both views are merged.
std::vector<CopyLoop> simplifiedLoops(const std::vector<int64_t> &space, const StridedView &source,
                                      const StridedView &target);

} // namespace ds::runtime

#endif // DS_RUNTIME_DEVICE_CPU_COPYFORM_H
