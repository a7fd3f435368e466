// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"
#include "ds/Interpreter/Interpreter.h"

#include "gtest/gtest.h"

using namespace ds;

namespace {

TEST(SemanticsTest, EveryOpWithALayoutRuleCanBeInterpreted) {
  mlir::DialectRegistry registry;
  registerProgramDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  unsigned ruled = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.hasInterface<LayoutRuleOpInterface>())
      continue;
    ++ruled;
    EXPECT_TRUE(hasSemantics(name)) << name.getStringRef().str();
  }
  EXPECT_GT(ruled, 60u);
}

} // namespace
