// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

// All layouts are decided before the first type changes: SolveLayouts.h decides, ApplyLayouts.h rewrites.

#include "ApplyLayouts.h"
#include "LayoutHints.h"
#include "SolveLayouts.h"

#include "ds/Passes/Passes.h"

namespace ds {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct PropagateLayouts : ds::impl::PropagateLayoutsPassBase<PropagateLayouts> {
  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    if (failed(verifyHints(getOperation(), mesh)))
      return signalPassFailure();
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      FailureOr<LayoutAssignment> assignment = solveLayouts(function, mesh);
      if (failed(assignment))
        return signalPassFailure();
      applyLayouts(function, *assignment);
    }
    for (VariableOp variable : getOperation().getOps<VariableOp>()) {
      variable.setType(withLayout(variable.getTensorType(), layoutOf(variable)));
      variable.removeLayoutAttr();
    }
  }
};

} // namespace
