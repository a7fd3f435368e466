// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Elementwise folds of several arrays into one.

#ifndef DS_LIB_RUNTIME_COLLECTIVE_LOCAL_REDUCE_H
#define DS_LIB_RUNTIME_COLLECTIVE_LOCAL_REDUCE_H

#include "ds/Plan/Plan.h"

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ds::runtime {

/// Whether `kind` has a meaning for `type`: And and Or take integers (bit by bit) and booleans, Sum takes all but
/// booleans.
absl::Status checkReduction(plan::ReduceKind kind, plan::DataType type);

/// Element i of each target = fold of sources[0][i], sources[1][i], ... in this order, for `bytes` bytes of elements.
/// 16-bit floats are folded in f32 and rounded once; integers wrap; a NaN stays in max and min. A target may be one of
/// the sources. With `isStreamed`, sums of f32 go past the caches into targets[0]; see finishStreams. checkReduction
/// must hold.
void reduceElements(plan::ReduceKind kind, plan::DataType type, absl::Span<const char *const> sources,
                    absl::Span<char *const> targets, int64_t bytes, bool isStreamed = false);

} // namespace ds::runtime

#endif // DS_LIB_RUNTIME_COLLECTIVE_LOCAL_REDUCE_H
