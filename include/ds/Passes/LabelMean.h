// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Losses of a graph that are means over labels.

#ifndef DS_PASSES_LABELMEAN_H
#define DS_PASSES_LABELMEAN_H

#include "mlir/IR/Value.h"

#include <optional>

namespace ds {

/// A loss that is `sum / count`: the cross entropies of all labels that count, and how many do.
struct LabelMean {
  mlir::Value sum, count; ///< scalars
};

/// The two halves of `loss` if it is such a mean, as exporters write it; reshapes are seen through.
std::optional<LabelMean> findLabelMean(mlir::Value loss);

} // namespace ds

#endif // DS_PASSES_LABELMEAN_H
