// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The factors that a tensor and its reshape have in common.

#ifndef DS_LAYOUT_COMMONFACTORS_H
#define DS_LAYOUT_COMMONFACTORS_H

#include "ds/Layout/Layout.h"

namespace ds {

/// The dims of two shapes as products of factors. `a[i]` and `b[i]` are the factors of dim i, major first, as numbers
/// into `factors`. A factor of both shapes is shared and may be cut among ranks; where the shapes have no common
/// boundary, each has factors of its own.
struct CommonFactors {
  struct Factor {
    int64_t size;
    bool isShared;
  };
  std::vector<Factor> factors;
  std::vector<std::vector<size_t>> a, b;
};

/// Cuts two shapes of equally many elements at their common boundaries, beginning at the minor end. Dims of one element
/// have no factors.
///
/// Example: [6, 4] and [3, 8]. The minor dims share 4 elements, which leaves 1 of 4 and 2 of 8; 6 and the rest of 8
/// share 2, 3 and 3 share 3. So [6, 4] is [(3)(2), (4)] and [3, 8] is [(3), (2)(4)], and all factors are shared.
/// [2, 3] and [3, 2] have no common boundary inside: neither has a shared factor.
CommonFactors commonFactors(const Shape &a, const Shape &b);

} // namespace ds

#endif // DS_LAYOUT_COMMONFACTORS_H
