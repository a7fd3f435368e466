// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// The steps from a model file to a plan.

#ifndef DS_DRIVER_COMPILE_H
#define DS_DRIVER_COMPILE_H

#include "ds/Driver/CompileInputs.h"
#include "ds/Plan/Plan.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

#include <functional>

namespace ds {

/// What a compilation tells, and may be told, while it works.
struct CompileHooks {
  /// Takes a line for the user: `note: ...`, `warning: ...` or, if options.explains, `remark: ...`.
  std::function<void(const std::string &line)> say = [](const std::string &) {};
  /// Takes what would repeat a defect, before each piece of work that may have one: a program for
  /// `ds-opt --run-reproducer`. Costs as much as a pass each time; null: nobody asks.
  std::function<void(const std::string &reproducer)> remember;
  /// Adds passes behind those of the last stage; for tests.
  std::function<mlir::LogicalResult(mlir::OpPassManager &)> addPasses;
};

/// What came of it.
struct Compiled {
  std::unique_ptr<plan::PlanT> plan; ///< of Stage::Plan
  std::string program;               ///< of the other stages
  /// What the work was done on. To free it takes as long as a pass, which a process that ends can leave to the system.
  std::shared_ptr<void> workspace;
};

/// Compiles `inputs`, which readInputs made of `options`, up to the stage that is asked for. Prints nothing. The
/// message of a failure has a line for each fault. Codes: InvalidArgument for input that must be changed, Unimplemented
/// for what is not supported, Internal for a defect of this project: a pass that fails on a program it must accept, or
/// a plan that check() refuses.
absl::StatusOr<Compiled> compile(const CompileInputs &inputs, const CompileOptions &options, const CompileHooks &hooks,
                                 mlir::TimingScope &timing);

} // namespace ds

#endif // DS_DRIVER_COMPILE_H
