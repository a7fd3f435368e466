// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

/// One context for many small programs: making it takes longer than most of them.

#ifndef DS_TEST_UNIT_CODEGEN_SHAREDCONTEXT_H
#define DS_TEST_UNIT_CODEGEN_SHAREDCONTEXT_H

#include "ds/Dialect/DsDialect.h"

namespace ds::test {

/// Has the dialects of programs.
inline mlir::MLIRContext &sharedContext() {
  static std::unique_ptr<mlir::MLIRContext> context = [] {
    mlir::DialectRegistry registry;
    registerProgramDialects(registry);
    auto made = std::make_unique<mlir::MLIRContext>(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

} // namespace ds::test

#endif // DS_TEST_UNIT_CODEGEN_SHAREDCONTEXT_H
