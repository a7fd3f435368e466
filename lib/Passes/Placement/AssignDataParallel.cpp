// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/Names.h"
#include "ds/Dialect/Refusal.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_ASSIGNDATAPARALLELPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// Into how many parts `input` is cut along dim 0.
int64_t partsOf(BlockArgument input) {
  for (Operation *user : input.getUsers())
    if (auto take = dyn_cast<TakePartOp>(user))
      return take.getParts();
  return 1;
}

struct AssignDataParallel : ds::impl::AssignDataParallelPassBase<AssignDataParallel> {
  using AssignDataParallelPassBase::AssignDataParallelPassBase;

  void runOnOperation() override {
    const Mesh mesh = meshOf(getOperation());
    if (!mesh.findAxis(axis)) {
      refuse(getOperation(), Refusal::BadInput) << "the mesh has no axis \"" << axis << "\"";
      return signalPassFailure();
    }
    if (mesh.axisSize(axis) == 1)
      return; // An axis of one rank splits nothing, and its collectives would be copies.
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      for (BlockArgument arg : function.getArguments()) {
        auto type = dyn_cast<RankedTensorType>(arg.getType());
        if (!type || type.getRank() == 0 || !function.getArgAttr(arg.getArgNumber(), kNameAttr) ||
            function.getArgAttr(arg.getArgNumber(), kWholeAttr) || function.getArgAttr(arg.getArgNumber(), kLayoutAttr))
          continue;
        function.setArgAttr(arg.getArgNumber(), kLayoutAttr,
                            LayoutAttr::get(&getContext(), layoutFor(type, partsOf(arg))));
      }
  }

  Layout layoutFor(RankedTensorType type, int64_t parts) {
    Layout layout = Layout::replicated(type.getRank());
    layout.dims[0] = parts == 1 ? DimLayout{Factor{kWholeDim, {axis}}}
                                : DimLayout{Factor{parts, {}}, Factor{type.getDimSize(0) / parts, {axis}}};
    return normalized(layout, shapeOf(type));
  }
};

} // namespace
