// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/IntSet.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_BOUNDINPUTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct BoundInputs : ds::impl::BoundInputsPassBase<BoundInputs> {
  using BoundInputsPassBase::BoundInputsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (BlockArgument argument : function.getArguments())
      if (std::optional<IntSet> set = findAllowedInts(argument, IntUses::Certain)) {
        // An integer type that the program holds wider has bounds already.
        if (auto known = function.getArgAttrOfType<IntSetAttr>(argument.getArgNumber(), kAllowedAttr))
          set->intersect({known.getLow(), known.getHigh(), llvm::to_vector<1>(known.getOthers())});
        function.setArgAttr(argument.getArgNumber(), kAllowedAttr,
                            IntSetAttr::get(&getContext(), set->low, set->high, set->others));
      }
  }
};

} // namespace
