// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "OpContext.h"

#include "ds/Dialect/DsDialect.h"
#include "ds/Passes/Passes.h"

using namespace mlir;

MLIRContext &ds::test::contextWithRules() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerProgramDialects(registry);
    registerGradientModels(registry);
    auto *created = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *context;
}
