// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"

namespace ds {
#define GEN_PASS_DEF_EXPANDAXESPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

using Aliases = std::map<std::string, AxisList>;

AxisList expanded(const AxisList &axes, const Aliases &aliases) {
  AxisList result;
  for (const std::string &axis : axes) {
    auto found = aliases.find(axis);
    if (found == aliases.end())
      result.push_back(axis);
    else
      result.insert(result.end(), found->second.begin(), found->second.end());
  }
  return result;
}

Layout expanded(Layout layout, const Aliases &aliases) {
  for (DimLayout &dim : layout.dims)
    for (Factor &factor : dim)
      factor.axes = expanded(factor.axes, aliases);
  layout.flat = expanded(layout.flat, aliases);
  std::map<std::string, ReduceKind> partial;
  for (auto &[axis, kind] : layout.partial)
    for (const std::string &atom : expanded(AxisList{axis}, aliases))
      partial[atom] = kind;
  layout.partial = partial;
  return layout;
}

struct ExpandAxes : ds::impl::ExpandAxesPassBase<ExpandAxes> {
  void runOnOperation() override {
    Aliases aliases;
    SmallVector<AxesOp> ops = llvm::to_vector(getOperation().getOps<AxesOp>());
    for (AxesOp op : ops)
      for (StringRef axis : op.getAxes().getAsValueRange<StringAttr>())
        aliases[op.getAlias().str()].push_back(axis.str());
    if (ops.empty())
      return;
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [&](LayoutAttr attr) { return LayoutAttr::get(&getContext(), expanded(attr.getLayout(), aliases)); });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    for (AxesOp op : ops)
      op.erase();
  }
};

} // namespace
