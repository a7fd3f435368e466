// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LayoutHints.h"

#include "ds/Dialect/DsDialect.h"
#include "ds/Dialect/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ds;

Layout ds::layoutOf(VariableOp variable) {
  std::optional<LayoutAttr> hint = variable.getLayout();
  return hint ? hint->getLayout() : layoutOf(variable.getTensorType());
}

static LogicalResult verifyHint(Operation *op, const Twine &owner, LayoutAttr layout, Type type, const Mesh &mesh) {
  if (std::optional<std::string> fault = findLayoutFault(layout.getLayout(), shapeOf(type), mesh))
    return refuse(op, Refusal::BadInput) << owner << *fault << ", got the hint [" << layout.getLayout().str()
                                         << "] for " << type;
  return success();
}

static LogicalResult verifyHintsOf(func::FuncOp function, const Mesh &mesh) {
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto layout = function.getArgAttrOfType<LayoutAttr>(number, kLayoutAttr))
      if (failed(verifyHint(function, "argument " + Twine(number) + ": ", layout, type, mesh)))
        return failure();
  WalkResult walked =
      function.walk([&](ConstrainOp op) { return WalkResult(verifyHint(op, "", op.getLayout(), op.getType(), mesh)); });
  return failure(walked.wasInterrupted());
}

LogicalResult ds::verifyHints(ModuleOp module, const Mesh &mesh) {
  for (VariableOp variable : module.getOps<VariableOp>())
    if (std::optional<LayoutAttr> layout = variable.getLayout())
      if (failed(verifyHint(variable, "", *layout, variable.getType(), mesh)))
        return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (failed(verifyHintsOf(function, mesh)))
      return failure();
  return success();
}
