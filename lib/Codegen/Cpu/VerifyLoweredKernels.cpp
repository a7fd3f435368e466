// SPDX-FileCopyrightText: The ds-mlir authors
// SPDX-License-Identifier: Apache-2.0

#include "LowerKernel.h"

#include "ds/Codegen/CodegenPasses.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSet.h"

namespace ds {
#define GEN_PASS_DEF_VERIFYLOWEREDKERNELSPASS
#include "ds/Codegen/CodegenPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "ds/Codegen/CodegenPasses.h.inc"
} // namespace ds

using namespace mlir;
using namespace ds;

void ds::registerCodegenPasses() { registerDsCodegenPasses(); }

/// Intrinsics that are instructions on every CPU, or short sequences of them.
static bool isInstruction(StringRef intrinsic) {
  static const llvm::StringSet<> names = {
      "abs",    "ceil",      "copysign", "ctlz",    "ctpop",     "cttz",        "fabs",         "floor",
      "fma",    "fmuladd",   "fptosi",   "maximum", "maxnum",    "masked.load", "masked.store", "minimum",
      "minnum", "nearbyint", "prefetch", "rint",    "round",     "roundeven",   "sqrt",         "smax",
      "smin",   "trunc",     "umax",     "umin",    "is.fpclass"};
  return names.contains(intrinsic) || intrinsic.starts_with("vector.");
}

static bool isDouble(Operation *op) {
  return op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isF64();
}

static LogicalResult verifyOp(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
    return op->emitOpError("must be in LLVM's dialect in a lowered kernel");
  if (isa<LLVM::AllocaOp, LLVM::MemcpyOp, LLVM::MemcpyInlineOp, LLVM::MemmoveOp>(op))
    return op->emitOpError("must not allocate or copy in a kernel");
  bool calls = isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op) ||
               (name.consume_front("llvm.intr.") && !isInstruction(name));
  if (calls && !isDouble(op))
    return op->emitOpError("must not call a function in a kernel");
  return success();
}

LogicalResult ds::verifyLoweredKernels(ModuleOp module) {
  bool isValid = true;
  for (Operation &function : *module.getBody())
    function.walk([&](Operation *op) { isValid &= succeeded(verifyOp(op)); });
  return success(isValid);
}

namespace {

struct VerifyLoweredKernels : ds::impl::VerifyLoweredKernelsPassBase<VerifyLoweredKernels> {
  void runOnOperation() override {
    if (failed(verifyLoweredKernels(getOperation())))
      signalPassFailure();
  }
};

} // namespace
