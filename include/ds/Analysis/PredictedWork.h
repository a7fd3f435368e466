// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// What an op asks of its rank and how long it takes, as `ds-predict-times` has it.

#ifndef DS_ANALYSIS_PREDICTEDWORK_H
#define DS_ANALYSIS_PREDICTEDWORK_H

#include "ds/Config/Machine.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ds {

/// F64Attr on an op: the seconds that one execution of it takes on the rank that has most to do; of a `ds.start`, those
/// from start to end of the collective. Absent on ops that do nothing.
inline constexpr llvm::StringLiteral kSecondsAttr = "ds.seconds";

/// DictionaryAttr beside it: the numbers of `Work` that are not 0, by the names that the plan has for them.
inline constexpr llvm::StringLiteral kWorkAttr = "ds.work";

void setPrediction(mlir::Operation *op, const Work &work, double seconds);

/// 0 if nothing is predicted.
double predictedSeconds(mlir::Operation *op);
Work predictedWork(mlir::Operation *op);

} // namespace ds

#endif // DS_ANALYSIS_PREDICTEDWORK_H
