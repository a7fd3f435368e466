// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Where buffers may begin.

#ifndef DS_PLAN_ALIGNMENT_H
#define DS_PLAN_ALIGNMENT_H

#include <cstdint>

namespace ds::plan {

/// Buffers begin at multiples of so many bytes of their arena: four lines of a cache, so that no two share one, and
/// what GPUs want for their widest loads.
inline constexpr uint64_t kBufferAlignment = 256;

} // namespace ds::plan

#endif // DS_PLAN_ALIGNMENT_H
