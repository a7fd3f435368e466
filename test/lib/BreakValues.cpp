// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// A pass with a planted fault, for tests of --check-each-pass.

#include "ds/Dialect/DsDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace ds;

namespace {
/// Turns the first arith.addf into an arith.subf.
struct BreakValuesPass : PassWrapper<BreakValuesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakValuesPass)

  StringRef getArgument() const override { return "test-ds-break-values"; }
  StringRef getDescription() const override {
    return "changes what a function computes: the first arith.addf becomes an arith.subf";
  }

  void runOnOperation() override {
    getOperation().walk([](arith::AddFOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(Value(arith::SubFOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs())));
      op.erase();
      return WalkResult::interrupt();
    });
  }
};
} // namespace

namespace ds::test {
void registerFailPass();
void registerTestPasses();
} // namespace ds::test

void ds::test::registerTestPasses() {
  PassRegistration<BreakValuesPass>();
  registerFailPass();
}
