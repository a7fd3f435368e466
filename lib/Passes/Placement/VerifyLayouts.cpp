// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "ds/Passes/Passes.h"

#include "ds/Analysis/OpStructure.h"
#include "ds/Layout/Cast.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "ds/Passes/Passes.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

namespace {

/// Ops whose types say all there is to check: others have a rule.
bool isStructural(Operation *op) {
  return isa<ModuleOp, func::FuncOp, func::ReturnOp, scf::ForOp, scf::YieldOp, MeshOp, AxesOp, VariableOp, ReadOp,
             AssignOp, ConstrainOp, FenceOp, KernelOp, YieldOp, StartOp, WaitOp>(op) ||
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Whether all that `op` reads and makes is whole on every rank: then it obeys its rule.
bool isWhole(Operation *op) {
  return llvm::none_of(op->getOperandTypes(), hasEncoding) && llvm::none_of(op->getResultTypes(), hasEncoding);
}

struct VerifyLayouts : ds::impl::VerifyLayoutsPassBase<VerifyLayouts> {
  using VerifyLayoutsPassBase::VerifyLayoutsPassBase;

  void runOnOperation() override {
    mesh = meshOf(getOperation());
    StructureSet verified; // what a layer's ops were found to be, the ops of the next one are
    verifiedTypes.clear();
    getOperation().walk([&](Operation *op) {
      if (isa<LayoutRuleOpInterface>(op) && isWhole(op))
        return;
      if (!isStructural(op) && verified.contains(op))
        return;
      if (failed(verifyTypes(op)) || failed(verifyOp(op)))
        signalPassFailure();
      else if (!isStructural(op))
        verified.insert(op);
    });
  }

private:
  LogicalResult verifyType(Operation *op, Type type) {
    if (!hasEncoding(type) || verifiedTypes.contains(type))
      return success();
    auto tensor = cast<RankedTensorType>(type);
    auto layout = dyn_cast<LayoutAttr>(tensor.getEncoding());
    if (!layout)
      return op->emitOpError("must have #ds.layout encodings alone, got ") << type;
    if (std::optional<std::string> fault = findLayoutFault(layout.getLayout(), shapeOf(type), mesh))
      return op->emitOpError() << *fault << ", in " << type;
    verifiedTypes.insert(type);
    return success();
  }

  LogicalResult verifyTypes(Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verifyType(op, type)))
        return failure();
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        if (failed(verifyType(op, arg.getType())))
          return failure();
    return success();
  }

  LogicalResult verifyOp(Operation *op) {
    if (auto cast = dyn_cast<LayoutCastOpInterface>(op))
      return verifyCast(cast);
    if (auto start = dyn_cast<StartOp>(op))
      return verifyStart(start);
    if (isa<RelayoutOp>(op))
      return allowRelayouts ? success() : op->emitOpError("must be expanded into casts");
    if (auto variable = dyn_cast<VariableOp>(op))
      return verifyVariable(variable);
    if (isStructural(op))
      return success();
    std::optional<LayoutRule> rule = findLayoutRule(op);
    if (!rule)
      return op->emitOpError("has no layout rule");
    if (std::optional<std::string> fault = findRuleFault(op, *rule, mesh))
      return op->emitOpError() << *fault;
    return success();
  }

  LogicalResult verifyVariable(VariableOp op) {
    if (failed(verifyType(op, op.getType())))
      return failure();
    if (!layoutOf(op.getType()).partial.empty())
      return op.emitOpError("must not be partial, got ") << op.getType();
    return success();
  }

  LogicalResult verifyCast(LayoutCastOpInterface op) {
    return verifyStep(op, layoutOf(op->getOperand(0)), layoutOf(op->getResult(0)), {op.getCastKind(), op.getCastAxis()},
                      shapeOf(op->getResult(0).getType()));
  }

  struct Claim {
    CastKind kind;
    StringRef axis;
  };

  LogicalResult verifyStep(Operation *op, const Layout &from, const Layout &to, Claim claim, const Shape &shape) {
    if (claim.kind == CastKind::Remap) {
      if (from.partial == to.partial && from.at == to.at && from.memory == to.memory)
        return success();
      return op->emitOpError("must keep partial, at and memory, got [") << from.str() << "] -> [" << to.str() << "]";
    }
    std::optional<Cast> found = findCast(from, to, shape, mesh);
    // A copy and a transfer name no axis.
    if (found && found->kind == claim.kind && (claim.axis.empty() || found->axis == claim.axis))
      return success();
    InFlightDiagnostic diagnostic = op->emitOpError("must lead from [") << from.str() << "] to [" << to.str() << "]";
    if (found)
      diagnostic << ", which is " << std::string(castKindName(found->kind)) << " over \"" << found->axis << "\"";
    return diagnostic;
  }

  LogicalResult verifyStart(StartOp op) {
    for (auto [input, type] : llvm::zip_equal(op.getInputs(), op.getDestinationTypes().getAsValueRange<TypeAttr>()))
      if (failed(
              verifyStep(op, layoutOf(input), layoutOf(type), {castKindOf(op.getKind()), op.getAxis()}, shapeOf(type))))
        return failure();
    return success();
  }

  Mesh mesh;
  DenseSet<Type> verifiedTypes;
};

} // namespace
