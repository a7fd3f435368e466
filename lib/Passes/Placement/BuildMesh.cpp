// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Dialect/Names.h"
#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ds {
#define GEN_PASS_DEF_BUILDMESHPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct BuildMesh : ds::impl::BuildMeshPassBase<BuildMesh> {
  using BuildMeshPassBase::BuildMeshPassBase;

  void runOnOperation() override {
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    for (const std::string &axis : axes) {
      auto [name, size] = StringRef(axis).split('=');
      names.push_back(name);
      if (name.empty() || size.getAsInteger(10, sizes.emplace_back()) || sizes.back() < 1) {
        getOperation().emitError("an axis must be name=size with size >= 1, got \"") << axis << "\"";
        return signalPassFailure();
      }
    }
    if (names.empty()) {
      names.push_back("dp");
      sizes.push_back(1);
    }
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    auto made = MeshOp::create(builder, getOperation().getLoc(), builder.getStringAttr(kMeshSymbol),
                               builder.getStrArrayAttr(names), builder.getDenseI64ArrayAttr(sizes), ArrayAttr());
    for (MeshOp other : llvm::make_early_inc_range(getOperation().getOps<MeshOp>())) {
      if (other == made)
        continue;
      if (other.getMesh().axes() != made.getMesh().axes()) {
        other.emitError("the module has another mesh already");
        return signalPassFailure();
      }
      other.erase();
    }
  }
};

} // namespace
