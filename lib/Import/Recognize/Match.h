// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What the recognizers of composites share: constants, products and values per row.

#ifndef DS_IMPORT_RECOGNIZE_MATCH_H
#define DS_IMPORT_RECOGNIZE_MATCH_H

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/Splat.h"

#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace ds::recognize {

/// The shape of a tensor value.
llvm::ArrayRef<int64_t> shapeOfValue(mlir::Value value);

/// Whether `number` is `expected` up to the rounding of f32 constants.
bool isClose(double number, double expected);

/// A product: a number times some values.
struct Product {
  double factor = 1;
  llvm::SmallVector<mlir::Value, 4> values;
};
/// The factors of a tree of products and quotients by constants. Products are split while there are less than `most`
/// values, and `leaves` never are.
Product findProduct(mlir::Value value, unsigned most, llvm::ArrayRef<mlir::Value> leaves = {});

/// If `value` repeats a tensor of rows along the last dims from `rank` on, that tensor.
mlir::Value findRows(mlir::Value value, int64_t rank);
/// `value` before reshapes that only put in or take out dims of size 1.
mlir::Value dropUnitReshapes(mlir::Value value);

/// If `value` repeats a tensor of the last dims from `rank` on, with their full shape, that tensor.
mlir::Value findColumns(mlir::Value value, int64_t rank);

// One function per family; populateRecognizeCompositePatterns calls them all.
void addNormPatterns(mlir::RewritePatternSet &patterns);
void addActivationPatterns(mlir::RewritePatternSet &patterns);
void addRotaryPatterns(mlir::RewritePatternSet &patterns);
void addAttentionPatterns(mlir::RewritePatternSet &patterns);

} // namespace ds::recognize

#endif // DS_IMPORT_RECOGNIZE_MATCH_H
