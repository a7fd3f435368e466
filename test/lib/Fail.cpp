// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// A pass that is a defect, for tests of what becomes of one.

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/Refusal.h"

#include "mlir/Pass/Pass.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace ds;

namespace {
struct FailPass : PassWrapper<FailPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FailPass)
  FailPass() = default;
  FailPass(const FailPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-ds-fail"; }
  StringRef getDescription() const override { return "fails in one of many ways"; }

  void runOnOperation() override {
    if (how == "refuse")
      refuse(getOperation(), Refusal::BadInput) << "must be asked for something else";
    else if (how == "error")
      getOperation().emitError("must never be seen");
    else if (how == "abort")
      std::abort();
    else if (how == "throw")
      (void)std::vector<int>().at(getOperation()->getNumRegions());
    else if (how == "segfault")
      ::raise(SIGSEGV);
    else if (how == "recurse")
      recurse(0);
    else if (how == "exit")
      ::_exit(1);
    else if (how == "overlap")
      return moveBuffers();
    signalPassFailure();
  }

private:
  /// Uses up the stack.
  static int recurse(int depth) {
    volatile char room[4096];
    room[depth % 4096] = 1;
    return room[0] + (depth < (1 << 24) ? recurse(depth + 1) : 0);
  }

  /// All buffers to the arena's start: a plan that check() refuses.
  void moveBuffers() {
    getOperation().walk([](BufferOp buffer) { buffer.setOffset(0); });
  }

  Option<std::string> how{*this, "how",
                          llvm::cl::desc("refuse, error, abort, throw, segfault, recurse, exit, overlap")};
};
} // namespace

namespace ds::test {
void registerFailPass();
} // namespace ds::test

void ds::test::registerFailPass() { PassRegistration<FailPass>(); }
