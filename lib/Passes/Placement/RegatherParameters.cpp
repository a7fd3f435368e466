// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace ds {
#define GEN_PASS_DEF_REGATHERPARAMETERSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

struct RegatherParameters : ds::impl::RegatherParametersPassBase<RegatherParameters> {
  using RegatherParametersPassBase::RegatherParametersPassBase;

  void runOnOperation() override {
    parameters.clear();
    for (VariableOp variable : getOperation()->getParentOfType<ModuleOp>().getOps<VariableOp>())
      if (variable.getRole() == VariableRole::Parameter)
        parameters.insert(variable.getSymNameAttr());
    getOperation().walk([&](Block *block) { splitGathers(*block); });
  }

private:
  /// The gathers of a block whose input is no gather itself, that is, the head of each chain.
  void splitGathers(Block &block) {
    DenseMap<Operation *, int64_t> position;
    SmallVector<AllGatherOp> heads;
    for (auto [number, op] : llvm::enumerate(block)) {
      position[&op] = number;
      if (auto gather = dyn_cast<AllGatherOp>(op); gather && isParameter(gather.getInput()))
        heads.push_back(gather);
    }
    for (AllGatherOp head : heads)
      splitUsers(head, block, position);
  }

  bool isParameter(Value value) {
    auto read = value.getDefiningOp<ReadOp>();
    return read && parameters.contains(read.getVariableAttr().getAttr());
  }

  void splitUsers(AllGatherOp head, Block &block, const DenseMap<Operation *, int64_t> &position) {
    SmallVector<Operation *> chain = {head};
    while (chain.back()->hasOneUse() && isa<AllGatherOp>(*chain.back()->user_begin()))
      chain.push_back(*chain.back()->user_begin());
    Value whole = chain.back()->getResult(0);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : whole.getUses())
      uses.push_back(&use);
    auto positionOf = [&](OpOperand *use) { return position.lookup(block.findAncestorOpInBlock(*use->getOwner())); };
    llvm::stable_sort(uses, [&](OpOperand *a, OpOperand *b) { return positionOf(a) < positionOf(b); });
    Value current = whole;
    for (size_t i = 1; i < uses.size(); ++i) {
      if (positionOf(uses[i]) - positionOf(uses[i - 1]) > distance)
        current = gatherAgain(chain, uses[i]->getOwner());
      uses[i]->set(current);
    }
  }

  Value gatherAgain(ArrayRef<Operation *> chain, Operation *user) {
    OpBuilder builder(user);
    Value source = chain.front()->getOperand(0);
    Value value = FenceOp::create(builder, source.getLoc(), source.getType(), source, nextFence++);
    for (Operation *op : chain) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), value);
      value = builder.clone(*op, mapping)->getResult(0);
    }
    remark::passed(user->getLoc(), remark::RemarkOpts::name("regathered").category(getArgument()))
        << "before a far use";
    return value;
  }

  DenseSet<StringAttr> parameters; ///< names
  int64_t nextFence = 0;
};

} // namespace
