// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// `--check-each-pass`: interprets the program before and after every pass.

#ifndef DS_INTERPRETER_CHECK_EACH_PASS_H
#define DS_INTERPRETER_CHECK_EACH_PASS_H

#include "ds/Interpreter/CompareRuns.h"

#include "mlir/Pass/PassManager.h"

namespace ds {

struct CheckEachPassOptions {
  CompareOptions compare;
  /// Passes (by argument) that spell composite ops out or recognize them. The constants of a composite (epsilon, 1 / n)
  /// are exact in the interpreter; written out they have the program's type, and f32 rounds them. So on programs that
  /// are not f64 throughout these passes may change values by `roundingTolerance` instead of `compare.tolerance`.
  std::vector<std::string> rounding = {"ds-recognize-composites", "ds-decompose-composites", "ds-decompose-updates"};
  double roundingTolerance = 1e-6;
  /// Passes (by argument) that change what a step means, and so its values.
  std::vector<std::string> exempt = {"ds-attach-loss", "ds-accumulate-gradients", "ds-clip-gradients",
                                     "ds-attach-optimizer", "ds-guard-assigns"};
};

/// Makes `manager` interpret every function on random inputs before and after each pass, and fail at the first pass
/// that changed a value, with an error that names the pass, the value and the error. Call it after the passes have been
/// added. Switches threading of the context off.
void checkEachPass(mlir::PassManager &manager, CheckEachPassOptions options = {});

} // namespace ds

#endif // DS_INTERPRETER_CHECK_EACH_PASS_H
