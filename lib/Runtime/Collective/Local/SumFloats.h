// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The fold that training does all the time, in one pass over memory.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_SUMFLOATS_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_SUMFLOATS_H

#include "absl/types/span.h"

#include <cstdint>

namespace ds::runtime {

/// Stores sources[0][i] + sources[1][i] + ..., added in this order, as element i of each target, for `count` floats. A
/// target may be a source. With `isStreamed`, targets[0] is stored past the caches; see finishStreams.
void sumFloats(absl::Span<const char *const> sources, absl::Span<char *const> targets, int64_t count, bool isStreamed);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_SUMFLOATS_H
