// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// The pass driver for people who work on the compiler.

#include "ds/Dialect/DsDialect.h"
#include "ds/Passes/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ds::registerProgramDialects(registry);
  ds::registerPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "ds-mlir optimizer driver\n", registry));
}
