// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What a rank holds of a tensor, as runs of the global tensor.

#ifndef DS_RUNTIME_SESSION_OWNEDRUNS_H
#define DS_RUNTIME_SESSION_OWNEDRUNS_H

#include "ds/Layout/Layout.h"

#include "absl/status/status.h"

#include <functional>

namespace ds::runtime {

/// `length` elements that follow each other in the global row-major tensor and in the rank's buffer.
struct OwnedRun {
  int64_t global = 0; ///< number of the first in the global tensor
  int64_t local = 0;  ///< number of the first in the buffer
  int64_t length = 0;
};

/// Calls `visit` for the runs of `rank`, in the order of its buffer: the elements of ds::ownedIndices, without a list
/// as long as the tensor. Stops at the first error.
absl::Status forEachOwnedRun(const Layout &layout, const Shape &shape, const Mesh &mesh, int64_t rank,
                             const std::function<absl::Status(const OwnedRun &)> &visit);

/// The same for the elements whose numbers in the global tensor are in `wanted`: the runs are cut to it. Finds the
/// first in O(log of the rank's elements).
absl::Status forEachOwnedRunIn(const Interval &wanted, const Layout &layout, const Shape &shape, const Mesh &mesh,
                               int64_t rank, const std::function<absl::Status(const OwnedRun &)> &visit);

/// Whether `rank` is the first of the ranks that hold the same piece, so that the pieces of all such ranks are the
/// tensor, each element once. Layouts that are partial over an axis have no such ranks.
bool isFirstHolder(const Layout &layout, const Mesh &mesh, int64_t rank);

} // namespace ds::runtime

#endif // DS_RUNTIME_SESSION_OWNEDRUNS_H
