// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Whether two forms of a program compute the same.

#ifndef DS_INTERPRETER_COMPARE_RUNS_H
#define DS_INTERPRETER_COMPARE_RUNS_H

#include "ds/Interpreter/RandomInputs.h"

namespace ds {

struct CompareOptions {
  unsigned samples = 1;     ///< sets of random inputs
  uint64_t seed = 0;        ///< of the inputs
  double tolerance = 1e-12; ///< see relativeError; sums may be made in another order, in f64
  IntSets intSets;          ///< of integer inputs, beside what the functions show
};

/// A value that differs between two runs.
struct ValueChange {
  std::string value; ///< `result "loss"`, `gradient of @w`, `variable @w`
  double error;      ///< see relativeError; infinite if the value is gone
};

/// Runs a function in two forms on the same random inputs and variables, and compares what both give: results by
/// ds.name, by the variable of ds.gradient, or by number, and assigned variables by name. What only `after` gives is
/// new and not compared. Returns the largest change above the tolerance, or nothing; fails (with a diagnostic) if a
/// form cannot be interpreted.
mlir::FailureOr<std::optional<ValueChange>> compareRuns(mlir::func::FuncOp before, mlir::func::FuncOp after,
                                                        const CompareOptions &options = {});

} // namespace ds

#endif // DS_INTERPRETER_COMPARE_RUNS_H
