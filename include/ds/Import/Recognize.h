// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Composite ops found again in the primitive ops that exporters spell them with.

#ifndef DS_IMPORT_RECOGNIZE_H
#define DS_IMPORT_RECOGNIZE_H

#include "mlir/IR/PatternMatch.h"

namespace ds {

/// Patterns that turn exporters' spellings into `ds.layer_norm`, `ds.rms_norm`, `ds.gelu`, `ds.silu`,
/// `ds.rotary_embedding` and `ds.attention`. Run them greedily; values stay the same up to rounding.
void populateRecognizeCompositePatterns(mlir::RewritePatternSet &patterns);

} // namespace ds

#endif // DS_IMPORT_RECOGNIZE_H
