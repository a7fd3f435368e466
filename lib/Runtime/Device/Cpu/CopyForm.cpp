// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "CopyForm.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>

using namespace ds;
using namespace ds::runtime;

/// The last multiple of `step` that `dim` touches, plus the way from the first to the last loop iteration.
static absl::Status checkReach(const plan::ViewDimT &dim, int64_t size, int64_t extent, int64_t loopReach) {
  __int128 low = dim.start, high = dim.start;
  const __int128 reach = static_cast<__int128>(dim.step) * (dim.loop < 0 ? 0 : size - 1);
  (reach < 0 ? low : high) += reach;
  high += loopReach;
  if (low >= 0 && high < extent)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("invalid plan: view must stay in [0, ", extent,
                                                 "), got coordinates from ", static_cast<int64_t>(low), " to ",
                                                 static_cast<int64_t>(high)));
}

absl::StatusOr<StridedView> ds::runtime::resolveView(const plan::ViewT &view, const std::vector<int64_t> &space,
                                                     const std::vector<int64_t> &viewExtents, int64_t loopCount) {
  StridedView result;
  result.strides.assign(space.size(), 0);
  const bool isEmpty = productOf(space) == 0;
  int64_t stride = 1;
  for (size_t i = view.dims.size(); i-- > 0;) {
    const plan::ViewDimT &dim = *view.dims[i];
    if (dim.loop >= static_cast<int64_t>(space.size()))
      return absl::InvalidArgumentError(
          absl::StrCat("invalid plan: loop of a view must be below ", space.size(), ", got ", dim.loop));
    const int64_t size = dim.loop < 0 ? 1 : space[static_cast<size_t>(dim.loop)];
    const bool moves = i == 0 && view.by_loop_index;
    if (!isEmpty)
      if (absl::Status status = checkReach(dim, size, viewExtents[i], moves ? (loopCount - 1) * size : 0); !status.ok())
        return status;
    if (moves)
      result.loopIndexStep = size * stride;
    result.offset += dim.start * stride;
    if (dim.loop >= 0)
      result.strides[static_cast<size_t>(dim.loop)] += dim.step * stride;
    stride *= std::max<int64_t>(viewExtents[i], 1);
  }
  return result;
}

static bool isOneLoop(const CopyLoop &outer, const CopyLoop &inner) {
  return outer.source == inner.source * inner.size && outer.target == inner.target * inner.size;
}

std::vector<CopyLoop> ds::runtime::simplifiedLoops(const std::vector<int64_t> &space, const StridedView &source,
                                                   const StridedView &target) {
  std::vector<CopyLoop> loops;
  for (size_t i = 0; i < space.size(); ++i)
    if (space[i] != 1)
      loops.push_back({space[i], source.strides[i], target.strides[i]});
  const auto order = [](const CopyLoop &loop) {
    return std::make_pair(-std::abs(loop.target), -std::abs(loop.source));
  };
  std::sort(loops.begin(), loops.end(), [&](const CopyLoop &x, const CopyLoop &y) { return order(x) < order(y); });
  std::vector<CopyLoop> merged;
  for (const CopyLoop &loop : loops) {
    if (!merged.empty() && isOneLoop(merged.back(), loop))
      merged.back() = {merged.back().size * loop.size, loop.source, loop.target};
    else
      merged.push_back(loop);
  }
  return merged;
}
