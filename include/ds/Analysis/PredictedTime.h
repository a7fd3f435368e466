// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// How long an op takes, as `ds-predict-times` has it.

#ifndef DS_ANALYSIS_PREDICTEDTIME_H
#define DS_ANALYSIS_PREDICTEDTIME_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ds {

/// F64Attr on an op: the seconds that one execution of it takes on the rank that has most to do; of a `ds.start`, those
/// from start to end of the collective. Absent on ops that do nothing.
inline constexpr llvm::StringLiteral kSecondsAttr = "ds.seconds";

/// 0 if nothing is predicted.
inline double predictedSeconds(mlir::Operation *op) {
  auto seconds = op->getAttrOfType<mlir::FloatAttr>(kSecondsAttr);
  return seconds ? seconds.getValueAsDouble() : 0;
}

} // namespace ds

#endif // DS_ANALYSIS_PREDICTEDTIME_H
