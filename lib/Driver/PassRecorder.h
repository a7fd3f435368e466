// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// Which pass runs, and on what.

#ifndef DS_LIB_DRIVER_PASSRECORDER_H
#define DS_LIB_DRIVER_PASSRECORDER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <functional>
#include <string>

namespace ds {

/// The program and the pipeline that `ds-opt --run-reproducer` takes: `module` and a pipeline that may be empty.
std::string reproducerOf(mlir::ModuleOp module, const std::string &pipeline);

/// Remembers the pass that failed and, if asked, gives each program that a pass is about to get to `remember`.
class PassRecorder : public mlir::PassInstrumentation {
public:
  PassRecorder(std::string &failedPass, std::function<void(const std::string &)> remember)
      : failedPass(failedPass), remember(std::move(remember)) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;

private:
  std::string &failedPass;
  std::function<void(const std::string &)> remember;
};

} // namespace ds

#endif // DS_LIB_DRIVER_PASSRECORDER_H
